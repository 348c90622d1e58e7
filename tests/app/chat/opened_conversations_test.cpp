#include "app/chat/opened_conversations.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

namespace fs = std::filesystem;

class OpenedConversationsTest : public testing::Test {
protected:
    void SetUp() override {
        auto opened = openConversations(m_file);
        ASSERT_TRUE(opened) << opened.error().message;
        ASSERT_FALSE(opened->trouble);
        // Enough for several pages.
        for (int i = 0; i < 50; ++i) {
            ASSERT_TRUE(say(*opened->store, "kept " + std::string(400, 'x')));
        }
    }
    static Result<MessageId> say(ConversationStore& store, const std::string& text) {
        auto id = store.create({.title = "Title"});
        return id ? store.append(*id, 0, "user", text) : Result<MessageId>(forward(id));
    }
    static std::size_t count(ConversationStore& store) { return store.list("", 1000)->size(); }
    void damage(const std::function<void(std::string&)>& change) {
        std::string bytes = test::readFile(m_file);
        change(bytes);
        std::ofstream(m_file, std::ios::binary) << bytes;
        m_damaged = bytes;
    }
    void expectSetAside(const char* name) {
        EXPECT_EQ(examineConversations(m_file).error().code, ErrorCode::kCorrupt);
        EXPECT_EQ(test::readFile(m_file), m_damaged) << "who only looks changes nothing";
        auto opened = openConversations(m_file);
        ASSERT_TRUE(opened) << opened.error().message;
        ASSERT_TRUE(opened->trouble);
        EXPECT_EQ(opened->trouble->outcome, FileTrouble::Outcome::kSetAside);
        EXPECT_EQ(opened->trouble->kept, m_temp.path() / name);
        EXPECT_NE(opened->trouble->error.message.find("quern.db"), std::string::npos);
        EXPECT_EQ(test::readFile(m_temp.path() / name), m_damaged);
        EXPECT_EQ(count(*opened->store), 0U);
        ASSERT_TRUE(say(*opened->store, "new"));
        opened->store.reset();
        const auto again = openConversations(m_file);
        EXPECT_FALSE(again->trouble) << "said once";
        EXPECT_EQ(count(*again->store), 1U);
    }

    test::TempFolder m_temp;
    fs::path m_file = m_temp.path() / "quern.db";
    std::string m_damaged;
};

TEST_F(OpenedConversationsTest, NoiseIsSetAside) {
    damage([](std::string& bytes) { bytes.assign(5000, '\x5a'); });
    expectSetAside("quern.db.damaged");
    // A second one does not take the place of the first.
    const std::string first = m_damaged;
    damage([](std::string& bytes) { bytes.assign(6000, '\x33'); });
    expectSetAside("quern.db.damaged2");
    EXPECT_EQ(test::readFile(m_temp.path() / "quern.db.damaged"), first);
}

TEST_F(OpenedConversationsTest, ACutFileIsSetAside) {
    damage([](std::string& bytes) { bytes.resize(bytes.size() / 2); });
    expectSetAside("quern.db.damaged");
}

TEST_F(OpenedConversationsTest, ALogBesideADamagedFileKeepsItsName) {
    damage([](std::string& bytes) { bytes.assign(5000, '\x5a'); });
    std::ofstream(m_temp.path() / "quern.db-wal", std::ios::binary) << "what was said last";
    expectSetAside("quern.db.damaged");
    EXPECT_EQ(test::readFile(m_temp.path() / "quern.db.damaged-wal"), "what was said last");
}

TEST_F(OpenedConversationsTest, WhereADamagedFileWentIsSaidAlsoWhenNoNewOneCanBeBegun) {
    damage([](std::string& bytes) { bytes.assign(5000, '\x5a'); });
    const auto isSaid = [this] {
        // Renaming goes on, and nothing can be written: as on a full disk.
        const rlimit none{.rlim_cur = 0, .rlim_max = 0};
        std::signal(SIGXFSZ, SIG_IGN);
        if (::setrlimit(RLIMIT_FSIZE, &none) != 0) {
            return false;
        }
        auto opened = openConversations(m_file);
        const fs::path kept = m_temp.path() / "quern.db.damaged";
        return opened && opened->trouble && fs::exists(kept) &&
               opened->trouble->outcome == FileTrouble::Outcome::kUnread &&
               opened->trouble->kept == kept &&
               opened->trouble->error.message.find("is damaged and is called " + kept.string()) !=
                   std::string::npos &&
               say(*opened->store, "passing");
    };
    EXPECT_EXIT(std::exit(isSaid() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_F(OpenedConversationsTest, ALogThatCannotBeReadIsSaidToBeMissing) {
    const fs::path folder = m_temp.path() / "copy";
    fs::create_directory(folder);
    {
        auto opened = openConversations(m_file);
        ASSERT_TRUE(say(*opened->store, "in the log"));
        for (const char* name : {"quern.db", "quern.db-wal"}) {
            fs::copy_file(m_temp.path() / name, folder / name);
        }
    }
    ASSERT_GT(fs::file_size(folder / "quern.db-wal"), 0U);
    fs::permissions(m_temp.path(), fs::perms::all);
    constexpr auto kRead = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
    for (const auto& entry : fs::directory_iterator(folder)) {
        fs::permissions(entry, kRead);
    }
    fs::permissions(folder,
                    kRead | fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec);
    const auto isSaid = [&] {
        auto opened = openConversations(folder / "quern.db");
        return opened && opened->trouble &&
               opened->trouble->outcome == FileTrouble::Outcome::kReadOnly &&
               opened->trouble->error.message.find("may be missing") != std::string::npos &&
               count(*opened->store) == 50;
    };
    const auto tryAsNobody = [&] {
        constexpr uid_t kNobody = 65534;
        const bool isSomebodyElse = ::geteuid() != 0 || ::setuid(kNobody) == 0;
        std::exit(isSomebodyElse && isSaid() ? 0 : 1);
    };
    EXPECT_EXIT(tryAsNobody(), testing::ExitedWithCode(0), "");
    fs::permissions(folder, fs::perms::owner_all);
}

TEST_F(OpenedConversationsTest, AFileOfANewerQuernIsLeftAndChattingGoesOnInMemory) {
    {
        std::fstream file(m_file, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(60);  // user_version, big-endian
        file.write("\0\0\1\0", 4);
    }
    const std::string before = test::readFile(m_file);
    auto opened = openConversations(m_file);
    ASSERT_TRUE(opened);
    ASSERT_TRUE(opened->trouble);
    EXPECT_EQ(opened->trouble->outcome, FileTrouble::Outcome::kUnread);
    EXPECT_TRUE(say(*opened->store, "passing"));
    EXPECT_EQ(count(*opened->store), 1U);
    opened->store.reset();
    EXPECT_EQ(test::readFile(m_file), before);
}

TEST_F(OpenedConversationsTest, AFileThatCannotBeWrittenIsCopiedIntoMemory) {
    fs::permissions(m_temp.path(), fs::perms::all);
    fs::permissions(m_file, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
    const auto opensAsACopy = [this] {
        auto opened = openConversations(m_file);
        return opened && opened->trouble &&
               opened->trouble->outcome == FileTrouble::Outcome::kReadOnly &&
               opened->trouble->error.message.find("quern.db") != std::string::npos &&
               count(*opened->store) == 50 && say(*opened->store, "passing") &&
               count(*opened->store) == 51;
    };
    // Permissions do not hold root back: somebody else tries, in a process of its own.
    const auto tryAsNobody = [&] {
        constexpr uid_t kNobody = 65534;
        const bool isSomebodyElse = ::geteuid() != 0 || ::setuid(kNobody) == 0;
        std::exit(isSomebodyElse && opensAsACopy() ? 0 : 1);
    };
    EXPECT_EXIT(tryAsNobody(), testing::ExitedWithCode(0), "");
    const auto files = std::distance(fs::directory_iterator(m_temp.path()), {});
    EXPECT_EQ(files, 1) << "nothing is left beside it";
}

TEST_F(OpenedConversationsTest, WithoutAFolderChattingGoesOnInMemory) {
    auto opened = openConversations(m_temp.path() / "gone" / "quern.db");
    ASSERT_TRUE(opened);
    ASSERT_TRUE(opened->trouble);
    EXPECT_NE(opened->trouble->error.message.find("gone"), std::string::npos);
    ASSERT_TRUE(say(*opened->store, "passing"));
    EXPECT_EQ(count(*opened->store), 1U);
    EXPECT_FALSE(fs::exists(m_temp.path() / "gone"));
}

TEST_F(OpenedConversationsTest, ACopyHoldsWhatTheFileHoldsAndIsNotSaved) {
    const auto copy = ConversationStore::openCopy(m_file).value();
    EXPECT_EQ(count(*copy), 50U);
    EXPECT_EQ(copy->list("kept", 1000)->size(), 50U) << "the search works too";
    ASSERT_TRUE(say(*copy, "passing"));
    EXPECT_EQ(count(*copy), 51U);
    EXPECT_EQ(*examineConversations(m_file), 50);
}

}  // namespace
}  // namespace quern::app
