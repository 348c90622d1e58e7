#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/sched/scheduler.h"

namespace quern::engine {

/// What one step did and why: enough to replay it in the monitor.
struct StepRecord {
    struct Part {
        SequenceId sequence = 0;
        std::int32_t tokens = 0;
    };
    std::uint32_t step = 0;
    std::chrono::steady_clock::time_point begin;
    double planSeconds = 0;
    double runSeconds = 0;
    double applySeconds = 0;  // sampling and delivery
    std::int64_t prefillTokens = 0;
    std::int64_t decodeTokens = 0;
    std::vector<Part> ran;
    std::vector<Admission> admitted;
    std::vector<SequenceId> preempted;
    std::int64_t waiting = 0;
    SequenceId firstWaiting = 0;  // 0: nobody waits
    WaitState firstWait;          // why the first in line waits
    std::uint64_t evictions = 0;
    std::int64_t heldBlocks = 0;  // over all groups, after the step
};

/// The last steps of a model, in a ring whose slots are used again: recording allocates nothing
/// once each slot has held a step as wide. Belongs to one thread at a time.
class FlightRecorder {
public:
    explicit FlightRecorder(std::size_t steps = 4096);
    /// The slot of the next step, with what it held before: the caller fills every field.
    [[nodiscard]] StepRecord& next();
    /// Oldest first.
    [[nodiscard]] std::vector<StepRecord> records() const;

private:
    std::vector<StepRecord> m_ring;
    std::uint64_t m_count = 0;
};

}  // namespace quern::engine
