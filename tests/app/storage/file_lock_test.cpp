#include "app/storage/file_lock.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

class FileLockTest : public ::testing::Test {
protected:
    test::TempFolder m_temp;
    std::filesystem::path m_file = m_temp.path() / "lock";
};

TEST_F(FileLockTest, NamesItsHolderAndLeavesNoFile) {
    {
        const auto lock = FileLock::tryTake(m_file, "x is made");
        ASSERT_TRUE(lock) << lock.error().message;
        const auto second = FileLock::tryTake(m_file, "x is made");
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, ErrorCode::kBusy);
        EXPECT_EQ(second.error().message, "x is made by another program (process " +
                                              std::to_string(::getpid()) +
                                              "); try again when it is done");
    }
    EXPECT_FALSE(std::filesystem::exists(m_file));
    EXPECT_TRUE(FileLock::tryTake(m_file, "x"));
}

TEST_F(FileLockTest, IsFreeWhenItsHolderIsKilled) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t holder = ::fork();
    if (holder == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const auto lock = FileLock::tryTake(m_file, "x");
        [[maybe_unused]] const auto told = ::write(ready[1], lock ? "y" : "n", 1);
        while (true) {
            ::pause();
        }
    }
    char answer = 'n';
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    ASSERT_EQ(answer, 'y');
    const auto busy = FileLock::tryTake(m_file, "x");
    ASSERT_FALSE(busy);
    EXPECT_NE(busy.error().message.find("process " + std::to_string(holder)), std::string::npos);
    ::kill(holder, SIGKILL);
    ASSERT_EQ(::waitpid(holder, nullptr, 0), holder);
    EXPECT_TRUE(FileLock::tryTake(m_file, "x"));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(FileLockTest, OneHolderAtATimeThoughTheFileComesAndGoes) {
    constexpr int kThreads = 8;
    constexpr int kTurns = 200;
    int counter = 0;  // plain: the lock alone keeps it whole
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < kTurns; ++turn) {
                const auto lock = FileLock::take(m_file);
                ASSERT_TRUE(lock);
                ++counter;
            }
        });
    }
    threads.clear();
    EXPECT_EQ(counter, kThreads * kTurns);
}

TEST_F(FileLockTest, AFolderThatIsNotThereIsNamed) {
    const auto lock = FileLock::take(m_temp.path() / "none" / "lock");
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().code, ErrorCode::kIo);
    EXPECT_NE(lock.error().message.find("none"), std::string::npos);
}

}  // namespace
}  // namespace quern::app
