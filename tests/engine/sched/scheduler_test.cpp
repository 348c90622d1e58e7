#include "engine/sched/scheduler.h"

#include <gtest/gtest.h>

#include "tests/engine/sched/scheduler_driver.h"

namespace quern::engine {
namespace {

using test::FakeModel;
using test::SchedulerDriver;

std::vector<TokenId> prompt(std::size_t count, TokenId salt = 0) {
    std::vector<TokenId> tokens(count);
    for (std::size_t i = 0; i < count; ++i) {
        tokens[i] = static_cast<TokenId>((i * 7 + static_cast<std::size_t>(salt) * 13) % 97);
    }
    return tokens;
}

constexpr SchedulerOptions kSmall{
    .stepTokens = 32, .maxOutputs = 8, .maxRunning = 4, .maxChunk = 0};

TEST(Scheduler, DecodesFirstThenFillsTheBudgetWithPrompts) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 64, .window = 0}}, kSmall);
    driver.add(1, prompt(10), 20);
    ASSERT_TRUE(driver.step());
    EXPECT_EQ(driver.plan.tokens.size(), 10U);
    driver.add(2, prompt(100, 1), 2);
    ASSERT_TRUE(driver.step());
    ASSERT_EQ(driver.plan.slices.size(), 2U);
    EXPECT_EQ(driver.plan.slices[0].tokenCount, 1) << "the decode";
    EXPECT_EQ(driver.plan.slices[1].tokenCount, 31) << "a chunk of the prompt";
    EXPECT_EQ(driver.plan.outputRows.size(), 1U) << "an unfinished prompt wants no logits";
    EXPECT_EQ(driver.scheduler.view(2)->state, RequestState::kPrefill);
    EXPECT_EQ(driver.scheduler.decisions().decodeTokens, 1);
    EXPECT_EQ(driver.scheduler.decisions().prefillTokens, 31);
    driver.drain();
}

TEST(Scheduler, UrgentRequestsGoFirstAndTakeThePlaceOfLessUrgentOnes) {
    const SchedulerOptions one{.stepTokens = 32, .maxOutputs = 8, .maxRunning = 1, .maxChunk = 0};
    SchedulerDriver driver(FakeModel{}, {{.blocks = 64, .window = 0}}, one);
    driver.add(1, prompt(10), 5, 0);
    driver.add(2, prompt(10, 1), 5, 0);
    driver.add(3, prompt(10, 2), 5, 1);
    ASSERT_TRUE(driver.step());
    EXPECT_EQ(driver.plan.sequences, std::vector<SequenceId>{1});
    EXPECT_EQ(describe(driver.scheduler.views()[1].wait), "all 1 places are taken");
    EXPECT_EQ(describe(driver.scheduler.views()[2].wait), "behind 1 other");
    driver.add(4, prompt(10, 3), 2, -1);
    ASSERT_TRUE(driver.step());
    EXPECT_EQ(driver.plan.sequences, std::vector<SequenceId>{4});
    EXPECT_EQ(driver.scheduler.view(1)->state, RequestState::kPreempted);
    std::vector<SequenceId> order;
    while (!driver.scheduler.isEmpty() && driver.step()) {
        const SequenceId id = driver.plan.sequences[0];
        if (order.empty() || order.back() != id) {
            order.push_back(id);
        }
    }
    EXPECT_EQ(order, (std::vector<SequenceId>{4, 1, 2, 3}));
}

TEST(Scheduler, PreemptsTheLatestAndKeepsItsTokens) {
    SchedulerDriver alone(FakeModel{}, {{.blocks = 64, .window = 0}}, kSmall);
    alone.add(1, prompt(16), 40);
    alone.drain();
    SchedulerDriver alone2(FakeModel{}, {{.blocks = 64, .window = 0}}, kSmall);
    alone2.add(2, prompt(16, 1), 40);
    alone2.drain();

    // Five blocks hold one of the two at its full length (56 tokens) but not both.
    SchedulerDriver driver(FakeModel{}, {{.blocks = 5, .window = 0}}, kSmall);
    driver.add(1, prompt(16), 40);
    driver.add(2, prompt(16, 1), 40);
    bool wasPreempted = false;
    while (!driver.scheduler.isEmpty() && driver.step()) {
        for (const SequenceId id : driver.scheduler.decisions().preempted) {
            EXPECT_EQ(id, 2U) << "the later one gives way";
            wasPreempted = true;
            EXPECT_EQ(driver.scheduler.view(2)->state, RequestState::kPreempted);
        }
    }
    EXPECT_TRUE(wasPreempted);
    EXPECT_EQ(driver.outputs[1], alone.outputs[1]);
    EXPECT_EQ(driver.outputs[2], alone2.outputs[2]);
    EXPECT_TRUE(driver.kv.isIdle());
}

TEST(Scheduler, SaysWhyARequestWaits) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 8, .window = 0}}, kSmall);
    driver.add(1, prompt(64), 20);
    driver.add(2, prompt(80, 1), 5);
    driver.step();
    const auto views = driver.scheduler.views();
    ASSERT_EQ(views.size(), 2U);
    EXPECT_EQ(describe(views[1].wait), "the step's 32 tokens are used up");
    driver.step();
    driver.step();
    EXPECT_EQ(describe(driver.scheduler.view(2)->wait), "no free blocks: needs 6, 3 free");
    driver.drain();
}

TEST(Scheduler, ARequestThatCanNeverFitIsNamed) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 4, .window = 0}}, kSmall);
    driver.add(1, prompt(80), 5);
    driver.add(2, prompt(10), 5);
    driver.step();
    EXPECT_EQ(driver.scheduler.decisions().unservable, std::vector<SequenceId>{1});
    EXPECT_EQ(driver.plan.sequences, std::vector<SequenceId>{2}) << "it does not block the line";
    driver.drain();
    EXPECT_TRUE(driver.kv.isIdle());
}

TEST(Scheduler, PausedSequencesComputeNothingAndGiveWayFirst) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 6, .window = 0}}, kSmall);
    driver.add(1, prompt(30), 60);
    driver.step();
    driver.scheduler.setPaused(1, true);
    EXPECT_FALSE(driver.scheduler.hasWork());
    driver.scheduler.plan(driver.plan);
    EXPECT_TRUE(driver.plan.isEmpty());
    EXPECT_EQ(driver.kv.pool(0).heldCount(), 2) << "its blocks stay …";
    EXPECT_EQ(driver.scheduler.view(1)->state, RequestState::kPaused);

    driver.add(2, prompt(70, 1), 3);
    driver.step();
    EXPECT_EQ(driver.scheduler.decisions().preempted, std::vector<SequenceId>{1})
        << "… until another needs them";
    while (driver.scheduler.hasWork() && driver.step()) {
    }
    EXPECT_EQ(driver.ends[2], 1);
    EXPECT_TRUE(driver.kv.isIdle());
    EXPECT_EQ(driver.scheduler.waitingCount(), 1U);

    driver.scheduler.setPaused(1, false);
    driver.drain();
    SchedulerDriver alone(FakeModel{}, {{.blocks = 6, .window = 0}}, kSmall);
    alone.add(1, prompt(30), 60);
    alone.drain();
    EXPECT_EQ(driver.outputs[1], alone.outputs[1]);
}

TEST(Scheduler, ForksGoOnFromSharedBlocks) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 16, .window = 0}, {.blocks = 16, .window = 20}},
                           kSmall);
    FakeModel model{.vocab = 97, .windows = {0, 20}, .seed = 1, .script = {}, .beforeStep = {}};
    SchedulerDriver forked(model, {{.blocks = 16, .window = 0}, {.blocks = 16, .window = 20}},
                           kSmall);
    forked.add(1, prompt(40), 8);
    forked.onRow = [&](SequenceId id, TokenId token) {
        if (id == 1 && !forked.wanted.contains(2)) {
            forked.wanted[2] = 8;
            forked.scheduler.fork(1, 2);
            forked.accept(2, (token + 1) % 97);
        }
        return false;
    };
    forked.drain();

    std::vector<TokenId> other = prompt(40);
    SchedulerDriver plain(model, {{.blocks = 16, .window = 0}, {.blocks = 16, .window = 20}},
                          kSmall);
    plain.add(1, other, 8);
    plain.drain();
    EXPECT_EQ(forked.outputs[1], plain.outputs[1]);
    other.push_back(forked.outputs[2][0]);
    plain.add(2, other, 7);
    plain.drain();
    EXPECT_EQ(std::vector<TokenId>(forked.outputs[2].begin() + 1, forked.outputs[2].end()),
              plain.outputs[2]);
    EXPECT_TRUE(forked.kv.isIdle());
}

TEST(Scheduler, AfterAFailedStepAllStartOver) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 64, .window = 0}}, kSmall);
    driver.add(1, prompt(20), 6);
    driver.step();
    driver.scheduler.plan(driver.plan);
    driver.scheduler.failed();
    EXPECT_TRUE(driver.kv.isIdle());
    EXPECT_EQ(driver.scheduler.view(1)->state, RequestState::kPreempted);
    driver.drain();
    SchedulerDriver alone(FakeModel{}, {{.blocks = 64, .window = 0}}, kSmall);
    alone.add(1, prompt(20), 6);
    alone.drain();
    EXPECT_EQ(driver.outputs[1], alone.outputs[1]);
}

TEST(Scheduler, RowsOfEveryTokenAreAskedForOnceAndWithinTheLimit) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 64, .window = 0}}, kSmall);
    driver.add(9, prompt(40), 1);
    driver.drain();  // its blocks are cached now
    driver.wanted[1] = 1000;
    driver.scheduler.add(SequenceSpec{.id = 1,
                                      .tokens = prompt(40),
                                      .priority = 0,
                                      .salt = {},
                                      .adapter = {},
                                      .holder = {.request = 1, .color = 0},
                                      .rowsFrom = 0});
    std::size_t rows = 0;
    driver.onRow = [&](SequenceId, TokenId) { return ++rows <= 40; };
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(driver.step());
        EXPECT_EQ(driver.plan.outputRows.size(), 8U);
    }
    EXPECT_EQ(rows, 40U);
    driver.scheduler.remove(1);
    EXPECT_TRUE(driver.kv.isIdle());
}

TEST(Scheduler, UnknownIdsAreIgnored) {
    SchedulerDriver driver(FakeModel{}, {{.blocks = 4, .window = 0}}, kSmall);
    driver.scheduler.remove(7);
    driver.scheduler.setPaused(7, true);
    driver.scheduler.append(7, 1);
    driver.scheduler.fork(7, 8);
    EXPECT_TRUE(driver.scheduler.isEmpty());
    EXPECT_FALSE(driver.scheduler.view(7));
    EXPECT_TRUE(driver.scheduler.tokens(7).empty());
}

}  // namespace
}  // namespace quern::engine
