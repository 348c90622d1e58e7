#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "engine/sched/scheduler.h"
#include "tests/support/fake_runner.h"

namespace quern::test {

/// Drives a scheduler with the fake model, choosing the best token each time, and checks every
/// plan against its limits.
class SchedulerDriver {
public:
    SchedulerDriver(const FakeModel& model, std::vector<engine::KvGroupConfig> groups,
                    const engine::SchedulerOptions& options, bool isPrefixCaching = true)
        : kv(groups, isPrefixCaching), scheduler(kv, options), m_options(options), m_runner(model) {
        std::vector<std::int64_t> blocks;
        for (const engine::KvGroupConfig& group : groups) {
            blocks.push_back(group.blocks);
        }
        EXPECT_TRUE(m_runner.allocateKv(blocks));
    }

    void add(engine::SequenceId id, std::vector<engine::TokenId> prompt, std::size_t generate,
             std::int32_t priority = 0) {
        wanted[id] = generate;
        scheduler.add(engine::SequenceSpec{.id = id,
                                           .tokens = std::move(prompt),
                                           .priority = priority,
                                           .salt = {},
                                           .adapter = {},
                                           .holder = {.request = id, .color = 0}});
    }

    void end(engine::SequenceId id) {
        scheduler.remove(id);
        ++ends[id];
    }

    /// One step; false when there was nothing to do.
    bool step() {
        scheduler.plan(plan);
        for (const engine::SequenceId id : scheduler.decisions().unservable) {
            end(id);
        }
        if (plan.isEmpty()) {
            EXPECT_TRUE(!scheduler.hasWork() || !scheduler.decisions().unservable.empty());
            return !scheduler.decisions().unservable.empty();
        }
        EXPECT_LE(static_cast<std::int64_t>(plan.tokens.size()), m_options.stepTokens);
        EXPECT_LE(static_cast<std::int64_t>(plan.slices.size()), m_options.maxRunning);
        EXPECT_LE(static_cast<std::int64_t>(plan.outputRows.size()), m_options.maxOutputs);
        auto logits = m_runner.run(plan);
        if (!logits) {
            ADD_FAILURE() << logits.error().message;
            return false;
        }
        scheduler.completed(plan);
        const auto vocab = static_cast<std::size_t>(m_runner.vocabSize());
        for (std::size_t r = 0; r < plan.outputRows.size(); ++r) {
            const auto row = logits->subspan(r * vocab, vocab);
            const engine::SequenceId id =
                plan.sequences[static_cast<std::size_t>(plan.outputSlice[r])];
            const auto token = static_cast<engine::TokenId>(
                std::max_element(row.begin(), row.end()) - row.begin());
            if (onRow && onRow(id, token)) {
                continue;
            }
            accept(id, token);
        }
        return true;
    }

    void accept(engine::SequenceId id, engine::TokenId token) {
        outputs[id].push_back(token);
        if (outputs[id].size() >= wanted[id]) {
            end(id);
        } else {
            scheduler.append(id, token);
        }
    }

    /// Steps until nothing is left; fails after `limit` steps.
    void drain(int limit = 100000) {
        while (!scheduler.isEmpty() && limit-- > 0 && step()) {
        }
        EXPECT_TRUE(scheduler.isEmpty());
    }

    engine::KvManager kv;
    engine::Scheduler scheduler;
    engine::BatchPlan plan;
    std::map<engine::SequenceId, std::size_t> wanted;
    std::map<engine::SequenceId, std::vector<engine::TokenId>> outputs;
    std::map<engine::SequenceId, int> ends;
    /// Takes a token before it is accepted; true when that is all.
    std::function<bool(engine::SequenceId, engine::TokenId)> onRow;

private:
    engine::SchedulerOptions m_options;
    FakeRunner m_runner;
};

}  // namespace quern::test
