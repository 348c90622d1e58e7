#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/kv/kv_manager.h"
#include "engine/sched/batch_plan.h"
#include "engine/snapshot.h"

namespace quern::engine {

struct SchedulerOptions {
    std::int64_t stepTokens = 512;  // the token budget of a step; at least maxRunning
    std::int64_t maxOutputs = 64;   // rows of logits in a step; at least maxRunning
    std::int64_t maxRunning = 64;   // sequences in a step
    std::int64_t maxChunk = 0;      // prompt tokens of one sequence in a step; 0: the budget
    bool takesWhole = false;        // all tokens of a sequence in one step, or none
};

/// A sequence to be continued token by token. One choice of one request.
struct SequenceSpec {
    SequenceId id = 0;
    std::vector<TokenId> tokens;  // at least one
    std::int32_t priority = 0;    // lower runs first
    std::string salt;
    std::string adapter;            // keeps its blocks apart from those of others
    std::int32_t adapterSlot = -1;  // of the runner's; −1: none
    BlockHolder holder;
    /// Logits are wanted of this token and all after it; absent: of the last only. A prefix hit
    /// never covers one of them.
    std::optional<std::int64_t> rowsFrom;
    std::int64_t typesFrom = 0;  // tokens from here on are of type 1; 0: all are of type 0
};

enum class WaitCause : std::uint8_t { kNone, kBehind, kBlocks, kSlots, kBudget, kPaused };

/// Why a sequence was not in the last step.
struct WaitState {
    WaitCause cause = WaitCause::kNone;
    std::int64_t needed = 0;  // kBlocks: blocks; kSlots, kBudget: the limit
    std::int64_t free = 0;
    std::int64_t ahead = 0;  // kBehind: sequences before it
};
[[nodiscard]] std::string describe(const WaitState& wait);

/// What the monitor shows of a sequence.
struct SequenceView {
    SequenceId id = 0;
    RequestState state = RequestState::kWaiting;
    WaitState wait;
    std::int64_t tokens = 0;
    std::int64_t computed = 0;
    std::int64_t blocks = 0;
    std::int32_t preemptions = 0;
};

/// A sequence that left the waiting line in the last plan.
struct Admission {
    SequenceId id = 0;
    std::int64_t hitTokens = 0;
    bool isFirst = false;  // not after a preemption
};

/// What the last plan decided, for the flight recorder. Valid until the next plan.
struct StepDecisions {
    std::vector<Admission> admitted;
    std::vector<SequenceId> preempted;
    std::vector<SequenceId> unservable;  // need more blocks than there are: the caller ends them
    std::int64_t prefillTokens = 0;
    std::int64_t decodeTokens = 0;
};

/// Decides what each step computes: one token budget, filled by sequences that are one token behind
/// (decode) first, then by chunks of prompts, then by sequences that wait, in the order of
/// (priority, arrival). When blocks are short the last of that order gives its own up and waits
/// again with all its tokens (preemption by recompute), paused ones before all others. The first of
/// the order always gets what it needs, so everything ends. Pure logic: knows no model, no clock,
/// no thread. Belongs to one thread.
class Scheduler {
public:
    /// `kv` must outlive it.
    Scheduler(KvManager& kv, const SchedulerOptions& options);
    ~Scheduler();

    void add(SequenceSpec spec);
    /// A sequence that starts as a copy of another whose tokens are all computed: shares its blocks
    /// and goes on beside it. Where blocks or slots are short it waits instead, with its tokens.
    void fork(SequenceId parent, SequenceId child);
    /// One more token of a sequence whose tokens are all computed.
    void append(SequenceId id, TokenId token);
    /// The sequence has ended, at any state; its blocks stay findable. Unknown ids are ignored.
    void remove(SequenceId id);
    /// A paused sequence keeps its blocks while nobody else needs them, and computes nothing.
    void setPaused(SequenceId id, bool isPaused);

    /// Fills `plan` with the next step; empty when nothing can run. Reuses the plan's memory.
    void plan(BatchPlan& plan);
    [[nodiscard]] const StepDecisions& decisions() const { return m_decisions; }
    /// The plan ran: its tokens are computed and their full blocks findable.
    void completed(const BatchPlan& plan);
    /// The plan did not run and nothing of it counts: all that run start over from what is cached.
    /// The caller may remove those it blames.
    void failed();

    [[nodiscard]] bool isEmpty() const { return m_sequences.empty(); }
    /// True when a plan made now might not be empty.
    [[nodiscard]] bool hasWork() const;
    [[nodiscard]] std::size_t waitingCount() const { return m_waiting.size() + m_pausedWaiting; }
    [[nodiscard]] std::uint32_t step() const { return m_step; }
    /// The sequence now, without its place in the line.
    [[nodiscard]] std::optional<SequenceView> view(SequenceId id) const;
    /// The first in the waiting line, if any.
    [[nodiscard]] std::optional<SequenceView> firstWaiting() const;
    /// All sequences: running ones in order, waiting ones in order, then those paused in waiting.
    [[nodiscard]] std::vector<SequenceView> views() const;
    /// Borrowed until the next call that changes the sequence. Empty for unknown ids.
    [[nodiscard]] std::span<const TokenId> tokens(SequenceId id) const;

private:
    struct Sequence;
    struct Earlier {
        bool operator()(const Sequence* a, const Sequence* b) const;
    };
    struct Budget {
        std::int64_t tokens = 0;
        std::int64_t rows = 0;
        std::int64_t sequences = 0;
    };

    [[nodiscard]] Sequence* find(SequenceId id) const;
    void scheduleRunning(bool isDecode);
    void admitWaiting();
    [[nodiscard]] bool admit(Sequence& sequence);
    [[nodiscard]] bool hasSlot() const;
    /// Tokens of the sequence that fit the rest of the budget.
    [[nodiscard]] std::int64_t chunkFor(const Sequence& sequence, std::int64_t begin) const;
    /// Blocks for the chunk, at the cost of sequences that come later; false when `sequence` itself
    /// had to give way.
    [[nodiscard]] bool makeRoom(Sequence& sequence, std::int64_t chunk);
    /// Who gives way to `sequence` when blocks or slots are short: the last of the paused, else the
    /// last that runs if it comes later (while `sequence` runs) or is less urgent (while it waits).
    [[nodiscard]] Sequence* victimFor(const Sequence& sequence, bool needsSlot) const;
    void schedule(Sequence& sequence, std::int64_t chunk);
    void unschedule(Sequence& sequence);
    void preempt(Sequence& sequence);
    void startRunning(Sequence& sequence);
    void stopRunning(Sequence& sequence);
    void startWaiting(Sequence& sequence);
    void stopWaiting(Sequence& sequence);
    void fillPlan(BatchPlan& plan);

    KvManager& m_kv;
    SchedulerOptions m_options;
    std::unordered_map<SequenceId, std::unique_ptr<Sequence>> m_sequences;
    std::vector<Sequence*> m_running;  // in order
    std::set<Sequence*, Earlier> m_waiting;
    std::size_t m_pausedWaiting = 0;
    std::vector<KvCopy> m_copies;  // for the next plan
    Budget m_budget;
    StepDecisions m_decisions;
    std::uint64_t m_arrivals = 0;
    std::uint32_t m_step = 0;
};

}  // namespace quern::engine
