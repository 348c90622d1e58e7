#include "engine/core/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace quern::engine {
namespace {

TEST(WorkerPool, RefusesWhatIsTooMuchAndTellsWhatItDrops) {
    std::promise<void> started;
    std::promise<void> go;
    std::atomic<int> done{0};
    std::atomic<int> dropped{0};
    const auto count = [&](bool isOpen) { ++(isOpen ? done : dropped); };
    WorkerPool pool(1, 2);
    ASSERT_TRUE(pool.post([&](bool isOpen) {
        started.set_value();
        go.get_future().wait();
        count(isOpen);
    }));
    started.get_future().wait();
    EXPECT_TRUE(pool.post(count));
    EXPECT_TRUE(pool.post(count));
    EXPECT_FALSE(pool.post(count)) << "two wait already";
    std::jthread closer([&] { pool.close(); });
    while (pool.post(count)) {
    }
    go.set_value();
    closer.join();
    EXPECT_FALSE(pool.post(count));
    EXPECT_GE(done, 1);
    EXPECT_EQ(done + dropped, 3);
}

}  // namespace
}  // namespace quern::engine
