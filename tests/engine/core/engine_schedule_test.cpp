// Many requests at once: equality, cancels, pauses, deadlines, the bounded queue.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/engine/core/core_helpers.h"

namespace quern::engine {
namespace {

using namespace test;

std::string promptOf(int i) {
    return "request " + std::to_string(i) + std::string(static_cast<std::size_t>(10 + 7 * i), 'z');
}

Request fixedLength(const std::string& text, std::optional<std::int32_t> maxTokens) {
    Request request = greedy(text, maxTokens);
    request.output.ignoreEos = true;
    return request;
}

Request endless(const std::string& text) {
    return fixedLength(text, std::nullopt);
}

/// A model whose steps wait at a gate.
FakeEngineModel gated(StepGate& gate) {
    FakeEngineModel model;
    model.model.beforeStep = [&gate] { return gate.pass(); };
    return model;
}

TEST(EngineSchedule, ManyGiveTheTokensOfEachAlone) {
    std::vector<std::vector<TokenId>> alone;
    auto single = makeEngineForTest();
    loadFake(*single, "m");
    for (int i = 0; i < 6; ++i) {
        alone.push_back(runToEnd(*single, fixedLength(promptOf(i), 40))->tokens());
    }
    // A cache for two and a half of them: some wait, some are preempted, none fails.
    for (const std::int64_t running : {1, 2, 4}) {
        StepGate gate;
        FakeEngineModel model = gated(gate);
        model.contextTokens = 128;
        auto engine = makeEngineForTest(model);
        loadFake(*engine, "m", {.kvBytes = 12 * 16 * 32, .maxRunning = running, .stepTokens = 24});
        std::vector<std::shared_ptr<EventCollector>> sinks;
        for (int i = 0; i < 6; ++i) {
            sinks.push_back(std::make_shared<EventCollector>());
            send(*engine, fixedLength(promptOf(i), 40), sinks.back());
        }
        gate.open();  // all are there when the second step begins
        for (std::size_t i = 0; i < 6; ++i) {
            ASSERT_TRUE(sinks[i]->waitFinished());
            EXPECT_EQ(sinks[i]->tokens(), alone[i]) << "request " << i << ", " << running;
        }
        EXPECT_EQ(heldBlocks(*engine), 0);
        if (running == 4) {
            EXPECT_GT(engine->snapshot().models[0].counters.preemptions, 0U)
                << "the test means to preempt";
        }
    }
}

TEST(EngineSchedule, SampledTokensDoNotDependOnNeighbours) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    Request request = greedy("sampled", 50);
    request.sampling.temperature = 0.9F;
    request.sampling.topP = 0.95F;
    request.sampling.repetitionPenalty = 1.1F;
    request.sampling.seed = 42;
    const auto alone = runToEnd(*engine, request)->tokens();
    std::vector<std::shared_ptr<EventCollector>> others;
    for (int i = 0; i < 5; ++i) {
        others.push_back(std::make_shared<EventCollector>());
        send(*engine, greedy(promptOf(i), 60), others.back());
    }
    EXPECT_EQ(runToEnd(*engine, request)->tokens(), alone);
}

TEST(EngineSchedule, CancelsAtAnyState) {
    StepGate gate;
    auto engine = makeEngineForTest(gated(gate));
    loadFake(*engine, "m", {.maxRunning = 2, .stepTokens = 16});
    const auto decoding = std::make_shared<EventCollector>();
    const auto prefilling = std::make_shared<EventCollector>();
    const auto waiting = std::make_shared<EventCollector>();
    const RequestId first = send(*engine, endless("short"), decoding);
    gate.let(2);
    ASSERT_TRUE(decoding->waitTokens(1));
    const RequestId second = send(*engine, endless(std::string(200, 'l')), prefilling);
    const RequestId third = send(*engine, endless("waits"), waiting);
    gate.let(3);
    gate.waitArrived(6);
    // In the gate now, holding the state lock not: the snapshot must not wait for the step.
    const EngineSnapshot snapshot = engine->snapshot();
    ASSERT_EQ(snapshot.models[0].requests.size(), 3U);
    EXPECT_EQ(snapshot.models[0].requests[0].state, RequestState::kDecode);
    EXPECT_EQ(snapshot.models[0].requests[1].state, RequestState::kPrefill);
    EXPECT_EQ(snapshot.models[0].requests[2].state, RequestState::kWaiting);
    EXPECT_EQ(snapshot.models[0].requests[2].waitReason, "all 2 places are taken");
    EXPECT_EQ(snapshot.models[0].running, 2);
    EXPECT_EQ(snapshot.models[0].waiting, 1);
    engine->cancel(third);
    engine->cancel(second);
    engine->cancel(first);
    engine->cancel(first);
    engine->cancel(99999);
    gate.open();
    for (const auto& sink : {decoding, prefilling, waiting}) {
        ASSERT_TRUE(sink->waitFinished());
        EXPECT_EQ(sink->finish().reason, FinishReason::kCancelled);
        EXPECT_EQ(sink->finishes(), 1);
    }
    engine->cancel(first);  // long over
    EXPECT_EQ(runToEnd(*engine, greedy("still alive", 3))->finishes(), 1);
    EXPECT_EQ(heldBlocks(*engine), 0);
}

TEST(EngineSchedule, ACancelledRequestWithChoicesEndsEachOfThem) {
    StepGate gate;
    auto engine = makeEngineForTest(gated(gate));
    loadFake(*engine, "m", {.maxRunning = 4, .stepTokens = 16});
    Request request = endless(std::string(100, 'n'));
    request.choices = 3;
    const auto sink = std::make_shared<EventCollector>(3);
    const RequestId id = send(*engine, request, sink);
    gate.let(2);
    gate.waitArrived(3);  // in the middle of the prompt: two choices have no sequence yet
    engine->cancel(id);
    gate.open();
    ASSERT_TRUE(sink->waitFinished());
    for (std::int32_t c = 0; c < 3; ++c) {
        EXPECT_EQ(sink->finish(c).reason, FinishReason::kCancelled);
    }
    runToEnd(*engine, greedy("x", 1));
    EXPECT_EQ(heldBlocks(*engine), 0);
}

TEST(EngineSchedule, APausedRequestComputesNothing) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    const auto sink = std::make_shared<EventCollector>();
    Request request = endless("pause me");
    request.output.maxTokens = 3000;
    const RequestId id = send(*engine, request, sink);
    ASSERT_TRUE(sink->waitTokens(3));
    engine->setPaused(id, true);
    // Another request passes through the engine: the pause was taken before it.
    runToEnd(*engine, greedy("passes", 3));
    const auto before = sink->tokens().size();
    if (sink->finishes() == 0) {
        EXPECT_EQ(engine->snapshot().models[0].requests[0].state, RequestState::kPaused);
        runToEnd(*engine, greedy("passes again", 20));
        EXPECT_EQ(sink->tokens().size(), before);
        engine->setPaused(id, false);
    }
    ASSERT_TRUE(sink->waitFinished());
    EXPECT_EQ(sink->tokens().size(), 3000U);
}

TEST(EngineSchedule, DeadlinesEndRequestsThatRunAndThatWait) {
    StepGate gate;
    auto engine = makeEngineForTest(gated(gate));
    loadFake(*engine, "m", {.maxRunning = 1, .stepTokens = 16});
    Request request = endless("late");
    request.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    const auto running = std::make_shared<EventCollector>();
    const auto waiting = std::make_shared<EventCollector>();
    send(*engine, request, running);
    send(*engine, request, waiting);
    gate.waitArrived(1);
    std::this_thread::sleep_until(*request.deadline);
    gate.let(1);
    for (const auto& sink : {running, waiting}) {
        ASSERT_TRUE(sink->waitFinished());
        EXPECT_EQ(sink->finish().reason, FinishReason::kDeadline);
    }
    // One that is paused is found by the clock alone: no step happens.
    request.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    const auto paused = std::make_shared<EventCollector>();
    const RequestId id = send(*engine, request, paused);
    engine->setPaused(id, true);
    gate.open();
    ASSERT_TRUE(paused->waitFinished());
    EXPECT_EQ(paused->finish().reason, FinishReason::kDeadline);
}

TEST(EngineSchedule, TheQueueIsBounded) {
    StepGate gate;
    auto engine = makeEngineForTest(gated(gate), {.maxQueued = 3});
    loadFake(*engine, "m", {.maxRunning = 1, .stepTokens = 16});
    std::vector<std::shared_ptr<EventCollector>> sinks;
    const auto add = [&] {
        sinks.push_back(std::make_shared<EventCollector>());
        return engine->submit(*engine->prepare(greedy("x", 2)), sinks.back());
    };
    ASSERT_TRUE(add());
    gate.waitArrived(1);  // runs, so it does not wait
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(add());
    }
    const auto refused = add();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
    EXPECT_EQ(refused.error().message, "3 requests wait already; try again later");
    sinks.pop_back();
    gate.open();
    for (const auto& sink : sinks) {
        EXPECT_TRUE(sink->waitFinished());
    }
    EXPECT_TRUE(add()) << "there is room again";
    EXPECT_TRUE(sinks.back()->waitFinished());
}

TEST(EngineSchedule, AFailedStepEndsItsRequestsAndNoOthers) {
    StepGate gate;
    std::atomic<bool> fails{false};
    FakeEngineModel model;
    model.model.beforeStep = [&]() -> Status {
        Status status = gate.pass();
        if (fails.exchange(false)) {
            return fail(ErrorCode::kInternal, "the device is on fire");
        }
        return status;
    };
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m", {.maxRunning = 1, .stepTokens = 16});
    const auto hit = std::make_shared<EventCollector>();
    const auto spared = std::make_shared<EventCollector>();
    send(*engine, endless("hit"), hit);
    send(*engine, greedy("spared", 4), spared);
    gate.let(1);
    ASSERT_TRUE(hit->waitTokens(1));
    fails = true;
    gate.open();
    ASSERT_TRUE(hit->waitFinished());
    EXPECT_EQ(hit->finish().reason, FinishReason::kError);
    EXPECT_EQ(hit->finish().error->message, "the device is on fire");
    ASSERT_TRUE(spared->waitFinished());
    EXPECT_EQ(spared->tokens().size(), 4U);
    EXPECT_EQ(heldBlocks(*engine), 0);
}

TEST(EngineSchedule, AnExceptionInAStepIsAnErrorLikeAnyOther) {
    std::atomic<bool> throws{true};
    FakeEngineModel model;
    model.model.beforeStep = [&]() -> Status {
        if (throws.exchange(false)) {
            throw std::runtime_error("thrown");
        }
        return {};
    };
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    EXPECT_EQ(runToEnd(*engine, greedy("x", 3))->finish().error->cause, "thrown");
    EXPECT_EQ(runToEnd(*engine, greedy("x", 3))->tokens().size(), 3U);
}

TEST(EngineSchedule, UrgentRequestsOvertake) {
    StepGate gate;
    auto engine = makeEngineForTest(gated(gate));
    loadFake(*engine, "m", {.maxRunning = 1, .stepTokens = 64});
    const auto title = std::make_shared<EventCollector>();
    const auto chat = std::make_shared<EventCollector>();
    Request slow = greedy("a title for the chat", 50);
    slow.priority = 5;
    slow.output.ignoreEos = true;
    send(*engine, slow, title);
    gate.let(3);
    ASSERT_TRUE(title->waitTokens(2));
    Request quick = greedy("a question", 5);
    quick.output.ignoreEos = true;
    send(*engine, quick, chat);
    gate.open();
    ASSERT_TRUE(chat->waitFinished());
    ASSERT_TRUE(title->waitFinished());
    EXPECT_EQ(title->finish().usage.preemptions, 1);
    EXPECT_EQ(title->tokens().size(), 50U);
}

TEST(EngineSchedule, ModelsTakeTurns) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "a");
    loadFake(*engine, "b");
    std::vector<std::shared_ptr<EventCollector>> sinks;
    for (int i = 0; i < 6; ++i) {
        sinks.push_back(std::make_shared<EventCollector>());
        Request request = greedy(promptOf(i / 2), 30);
        request.model = i % 2 == 0 ? "a" : "b";
        send(*engine, request, sinks.back());
    }
    for (const auto& sink : sinks) {
        ASSERT_TRUE(sink->waitFinished());
    }
    EXPECT_EQ(sinks[0]->tokens(), sinks[1]->tokens());
    const EngineSnapshot snapshot = engine->snapshot();
    ASSERT_EQ(snapshot.models.size(), 2U);
    EXPECT_EQ(snapshot.models[0].counters.generationTokens,
              snapshot.models[1].counters.generationTokens);
}

TEST(EngineSchedule, TheMapOfTheCacheIsFoldedIn) {
    StepGate gate;
    auto engine = makeEngineForTest(gated(gate));
    loadFake(*engine, "m");
    KvMap map;
    ASSERT_TRUE(engine->foldKvMap("m", 0, map));
    EXPECT_EQ(static_cast<std::int64_t>(map.cells.size()),
              engine->snapshot().models[0].groups[0].blocks);
    const auto count = [&](BlockState state) {
        return std::ranges::count(map.cells, state, &BlockCell::state);
    };
    EXPECT_EQ(count(BlockState::kFree), static_cast<std::ptrdiff_t>(map.cells.size()));
    const auto sink = std::make_shared<EventCollector>();
    const RequestId id = send(*engine, greedy(std::string(40, 'm'), 5), sink);
    gate.let(1);
    ASSERT_TRUE(sink->waitTokens(1));
    const std::uint64_t version = map.version;
    ASSERT_TRUE(engine->foldKvMap("m", 0, map));
    EXPECT_GT(map.version, version);
    EXPECT_EQ(count(BlockState::kHeld), 3);
    const auto held = std::ranges::find(map.cells, BlockState::kHeld, &BlockCell::state);
    EXPECT_EQ(held->owner, id);
    gate.open();
    ASSERT_TRUE(sink->waitFinished());
    runToEnd(*engine, greedy("y", 1));
    ASSERT_TRUE(engine->foldKvMap("m", 0, map));
    EXPECT_EQ(count(BlockState::kHeld), 0);
    EXPECT_EQ(count(BlockState::kCached), 2);
    EXPECT_EQ(engine->foldKvMap("m", 3, map).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(engine->foldKvMap("nobody", 0, map).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace quern::engine
