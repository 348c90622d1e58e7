#include "kernels/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace quern::kernels::cpu {
namespace {

struct Relay {
    ThreadPool* pool = nullptr;
    std::int32_t rounds = 0;
    std::vector<std::int64_t> values;  // one a worker, plain memory: the barrier must order it
    std::vector<std::int32_t> errors;
};

// Every worker writes its value, all meet, every worker reads all values.
void relay(void* context, std::int32_t worker) noexcept {
    auto& r = *static_cast<Relay*>(context);
    const auto own = static_cast<std::size_t>(worker);
    for (std::int32_t round = 0; round < r.rounds; ++round) {
        r.values[own] = round * 1000 + worker;
        r.pool->barrier();
        for (std::size_t other = 0; other < r.values.size(); ++other) {
            if (r.values[other] != round * 1000 + static_cast<std::int64_t>(other)) {
                ++r.errors[own];
            }
        }
        r.pool->barrier();
    }
}

Relay makeRelay(ThreadPool& pool, std::int32_t rounds) {
    const auto threads = static_cast<std::size_t>(pool.threads());
    return {.pool = &pool,
            .rounds = rounds,
            .values = std::vector<std::int64_t>(threads, -1),
            .errors = std::vector<std::int32_t>(threads, 0)};
}

TEST(ThreadPool, BarriersOrderAllWrites) {
    for (const std::int32_t threads : {1, 2, 3, 7}) {
        ThreadPool pool(threads);
        ASSERT_EQ(pool.threads(), threads);
        for (int run = 0; run < 20; ++run) {
            Relay r = makeRelay(pool, 20);
            pool.run(relay, &r);
            for (const std::int32_t errors : r.errors) {
                EXPECT_EQ(errors, 0);
            }
        }
    }
}

TEST(ThreadPool, WorkersWakeAfterTheyFellAsleep) {
    ThreadPool pool(3);
    for (int run = 0; run < 3; ++run) {
        // Far beyond the time that waiting workers spin for.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        Relay r = makeRelay(pool, 3);
        pool.run(relay, &r);
        EXPECT_EQ(r.errors, std::vector<std::int32_t>(3, 0));
    }
}

// One worker is late at a barrier: the others have to sleep inside a run.
TEST(ThreadPool, BarrierWaitsForALateWorker) {
    ThreadPool pool(3);
    struct Late {
        ThreadPool* pool;
        bool isDone = false;
        std::vector<int> seen = {0, 0, 0};
    } late{.pool = &pool};
    pool.run(
        [](void* context, std::int32_t worker) noexcept {
            auto& l = *static_cast<Late*>(context);
            if (worker == 1) {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                l.isDone = true;
            }
            l.pool->barrier();
            l.seen[static_cast<std::size_t>(worker)] = l.isDone ? 1 : 0;
        },
        &late);
    EXPECT_EQ(late.seen, std::vector<int>({1, 1, 1}));
}

TEST(ThreadPool, EndsWithoutEverRunning) {
    for (int i = 0; i < 20; ++i) {
        ThreadPool pool(4);
    }
}

TEST(ThreadPool, SeveralCallersTakeTurns) {
    ThreadPool pool(2);
    std::vector<std::thread> callers;
    std::vector<std::int32_t> errors(3, 0);
    for (std::size_t c = 0; c < errors.size(); ++c) {
        callers.emplace_back([&pool, &errors, c] {
            for (int run = 0; run < 30; ++run) {
                Relay r = makeRelay(pool, 4);
                pool.run(relay, &r);
                errors[c] += r.errors[0] + r.errors[1];
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    EXPECT_EQ(errors, std::vector<std::int32_t>(3, 0));
}

}  // namespace
}  // namespace quern::kernels::cpu
