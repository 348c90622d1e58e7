// Many clients at once, on many threads.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/engine/core/core_helpers.h"

namespace quern::engine {
namespace {

using namespace test;

TEST(EngineStress, RandomCancelsLeaveNoBlockHeld) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    FakeEngineModel model;
    model.model.windows = {0, 40, FakeModel::kState};
    model.contextTokens = 512;
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m", {.kvBytes = 60 * 1024, .maxRunning = 8, .stepTokens = 40});

    std::vector<std::shared_ptr<EventCollector>> sinks(32);
    std::vector<std::jthread> clients;
    for (std::size_t t = 0; t < 4; ++t) {
        clients.emplace_back([&, t] {
            std::mt19937 random(static_cast<unsigned>(seed + t));
            for (std::size_t i = t; i < sinks.size(); i += 4) {
                Request request = greedy(std::string(1 + random() % 150, 'a'),
                                         static_cast<std::int32_t>(1 + random() % 200));
                request.priority = static_cast<std::int32_t>(random() % 3);
                request.choices = static_cast<std::int32_t>(1 + random() % 3);
                request.output.ignoreEos = true;
                request.sampling.temperature = 1.0F;
                sinks[i] = std::make_shared<EventCollector>(request.choices);
                const RequestId id = send(*engine, request, sinks[i]);
                if (random() % 2 == 0) {
                    (void)sinks[i]->waitTokens(random() % 20, std::chrono::milliseconds(5));
                    engine->cancel(id);
                } else if (random() % 3 == 0) {
                    engine->setPaused(id, true);
                    engine->setPaused(id, false);
                }
            }
        });
    }
    std::jthread viewer([&](const std::stop_token& stop) {
        KvMap map;
        while (!stop.stop_requested()) {
            (void)engine->snapshot();
            EXPECT_TRUE(engine->foldKvMap("m", 1, map));
        }
    });
    clients.clear();
    for (const auto& sink : sinks) {
        ASSERT_TRUE(sink->waitFinished());
    }
    viewer.request_stop();
    viewer.join();
    runToEnd(*engine, greedy("x", 1));
    EXPECT_EQ(heldBlocks(*engine), 0);
    const ModelSnapshot snapshot = engine->snapshot().models[0];
    EXPECT_EQ(snapshot.running + snapshot.waiting, 0);
    for (const auto& sink : sinks) {
        std::map<std::int32_t, int> finishes;
        for (const TokenEvent& event : sink->events()) {
            EXPECT_EQ(finishes[event.choice], 0) << "nothing follows a finish";
            finishes[event.choice] += event.finish ? 1 : 0;
        }
        for (const auto& [choice, count] : finishes) {
            EXPECT_EQ(count, 1);
        }
    }
}

TEST(EngineStress, LoadsUnloadsAndShutsDownWhileOthersAsk) {
    for (int round = 0; round < 10; ++round) {
        auto engine = makeEngineForTest();
        loadFake(*engine, "stays");
        std::vector<std::shared_ptr<EventCollector>> sinks;
        std::mutex mutex;
        std::vector<std::jthread> clients;
        for (int t = 0; t < 3; ++t) {
            clients.emplace_back([&, t](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                    Request request = greedy("x", 20);
                    request.model = t == 0 ? "stays" : "comes";
                    auto prepared = engine->prepare(request);
                    if (!prepared) {
                        continue;
                    }
                    auto sink = std::make_shared<EventCollector>();
                    if (engine->submit(std::move(*prepared), sink)) {
                        const std::lock_guard lock(mutex);
                        sinks.push_back(sink);
                    }
                }
            });
        }
        for (int i = 0; i < 5; ++i) {
            loadFake(*engine, "comes");
            EXPECT_TRUE(engine->unload("comes"));
        }
        engine->shutdown(std::chrono::milliseconds(round % 2 == 0 ? 0 : 50));
        for (std::jthread& client : clients) {
            client.request_stop();
        }
        clients.clear();
        engine.reset();
        for (const auto& sink : sinks) {
            EXPECT_EQ(sink->finishes(), 1);
        }
    }
}

}  // namespace
}  // namespace quern::engine
