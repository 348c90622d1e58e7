#include "engine/sched/scheduler.h"

#include <algorithm>
#include <tuple>

namespace quern::engine {

std::string describe(const WaitState& wait) {
    switch (wait.cause) {
        case WaitCause::kNone:
            return {};
        case WaitCause::kBehind:
            return "behind " + std::to_string(wait.ahead) +
                   (wait.ahead == 1 ? " other" : " others");
        case WaitCause::kBlocks:
            return "no free blocks: needs " + std::to_string(wait.needed) + ", " +
                   std::to_string(wait.free) + " free";
        case WaitCause::kSlots:
            return "all " + std::to_string(wait.needed) + " places are taken";
        case WaitCause::kBudget:
            return "the step's " + std::to_string(wait.needed) + " tokens are used up";
        case WaitCause::kPaused:
            return "paused: its reader is behind";
    }
    return {};
}

struct Scheduler::Sequence {
    SequenceId id = 0;
    std::vector<TokenId> tokens;
    std::int32_t priority = 0;
    std::uint64_t arrival = 0;
    SequenceKv kv;
    std::int64_t computed = 0;  // tokens whose keys and values are in its blocks
    std::int64_t rowsFrom = 0;  // first token whose logits are still wanted
    std::int64_t typesFrom = 0;
    std::int32_t adapterSlot = -1;
    std::int64_t chunk = 0;  // its tokens in the step that is being planned or run
    std::int32_t preemptions = 0;
    bool isRunning = false;
    bool isPaused = false;
    bool isUnservable = false;
    bool wasAdmitted = false;
    WaitState wait;

    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
    [[nodiscard]] std::int64_t remaining() const { return size() - computed; }
    [[nodiscard]] std::int64_t rowsIn(std::int64_t begin, std::int64_t end) const {
        return std::max<std::int64_t>(0, end - std::max(begin, rowsFrom));
    }
};

bool Scheduler::Earlier::operator()(const Sequence* a, const Sequence* b) const {
    return std::tie(a->priority, a->arrival, a->id) < std::tie(b->priority, b->arrival, b->id);
}

Scheduler::Scheduler(KvManager& kv, const SchedulerOptions& options)
    : m_kv(kv), m_options(options) {}

Scheduler::~Scheduler() = default;

Scheduler::Sequence* Scheduler::find(SequenceId id) const {
    const auto found = m_sequences.find(id);
    return found == m_sequences.end() ? nullptr : found->second.get();
}

void Scheduler::add(SequenceSpec spec) {
    auto sequence = std::make_unique<Sequence>();
    sequence->id = spec.id;
    sequence->tokens = std::move(spec.tokens);
    sequence->priority = spec.priority;
    sequence->arrival = ++m_arrivals;
    sequence->kv = m_kv.open(spec.salt, spec.adapter, spec.holder);
    sequence->rowsFrom = std::min(spec.rowsFrom.value_or(sequence->size()), sequence->size() - 1);
    sequence->typesFrom = spec.typesFrom;
    sequence->adapterSlot = spec.adapterSlot;
    startWaiting(*sequence);
    m_sequences.emplace(spec.id, std::move(sequence));
}

void Scheduler::fork(SequenceId parentId, SequenceId childId) {
    const Sequence* parent = find(parentId);
    if (parent == nullptr) {
        return;
    }
    auto child = std::make_unique<Sequence>();
    child->id = childId;
    child->tokens = parent->tokens;
    child->priority = parent->priority;
    child->arrival = parent->arrival;
    child->kv = parent->kv;
    for (SequenceKv::Group& group : child->kv.groups) {
        group = {};
    }
    child->kv.published = 0;
    child->rowsFrom = parent->size();
    child->adapterSlot = parent->adapterSlot;
    child->isPaused = parent->isPaused;
    child->wasAdmitted = true;
    if (hasSlot() && !m_kv.fork(parent->kv, child->kv, parent->computed, m_copies)) {
        child->computed = parent->computed;
        startRunning(*child);
    } else {
        startWaiting(*child);
    }
    m_sequences.emplace(childId, std::move(child));
}

void Scheduler::append(SequenceId id, TokenId token) {
    if (Sequence* sequence = find(id)) {
        sequence->tokens.push_back(token);
    }
}

void Scheduler::remove(SequenceId id) {
    Sequence* sequence = find(id);
    if (sequence == nullptr) {
        return;
    }
    m_kv.release(sequence->kv);
    if (sequence->isRunning) {
        stopRunning(*sequence);
    } else if (!sequence->isUnservable) {
        stopWaiting(*sequence);
    }
    m_sequences.erase(id);
}

void Scheduler::setPaused(SequenceId id, bool isPaused) {
    Sequence* sequence = find(id);
    if (sequence == nullptr || sequence->isPaused == isPaused) {
        return;
    }
    if (sequence->isRunning || sequence->isUnservable) {
        sequence->isPaused = isPaused;
    } else {
        stopWaiting(*sequence);
        sequence->isPaused = isPaused;
        startWaiting(*sequence);
    }
    sequence->wait = {};
}

bool Scheduler::hasWork() const {
    return !m_waiting.empty() || std::any_of(m_running.begin(), m_running.end(),
                                             [](const Sequence* s) { return !s->isPaused; });
}

bool Scheduler::hasSlot() const {
    return std::count_if(m_running.begin(), m_running.end(),
                         [](const Sequence* s) { return !s->isPaused; }) < m_options.maxRunning;
}

void Scheduler::plan(BatchPlan& plan) {
    m_decisions.admitted.clear();
    m_decisions.preempted.clear();
    m_decisions.unservable.clear();
    m_budget = Budget{.tokens = m_options.stepTokens,
                      .rows = m_options.maxOutputs,
                      .sequences = m_options.maxRunning};
    // When all that was scheduled has given way to one that then did not fit, its budget is free
    // for others. Ends, because each further round has fewer that run.
    std::size_t preempted = 0;
    do {
        preempted = m_decisions.preempted.size();
        scheduleRunning(true);
        scheduleRunning(false);
        admitWaiting();
    } while (m_budget.sequences == m_options.maxRunning &&
             m_decisions.preempted.size() > preempted);
    fillPlan(plan);
}

void Scheduler::scheduleRunning(bool isDecode) {
    for (std::size_t i = 0; i < m_running.size();) {
        Sequence& sequence = *m_running[i];
        if (!sequence.isPaused && sequence.chunk == 0 && (sequence.remaining() == 1) == isDecode) {
            const std::int64_t chunk = chunkFor(sequence, sequence.computed);
            if (chunk <= 0) {
                sequence.wait =
                    WaitState{.cause = WaitCause::kBudget, .needed = m_options.stepTokens};
            } else if (makeRoom(sequence, chunk)) {
                schedule(sequence, chunk);
            }
        }
        // Preemptions may have taken this one or later ones out.
        i = static_cast<std::size_t>(
            std::upper_bound(m_running.begin(), m_running.end(), &sequence, Earlier()) -
            m_running.begin());
    }
}

void Scheduler::admitWaiting() {
    while (!m_waiting.empty() && admit(**m_waiting.begin())) {
    }
}

bool Scheduler::admit(Sequence& sequence) {
    while (!hasSlot()) {
        Sequence* victim = victimFor(sequence, true);
        if (victim == nullptr) {
            sequence.wait = WaitState{.cause = WaitCause::kSlots, .needed = m_options.maxRunning};
            return false;
        }
        preempt(*victim);
    }
    const std::int64_t hit = m_kv.findPrefix(sequence.kv, sequence.tokens,
                                             std::min(sequence.rowsFrom, sequence.size() - 1));
    const std::int64_t chunk = chunkFor(sequence, hit);
    if (chunk <= 0) {
        sequence.wait = WaitState{.cause = WaitCause::kBudget, .needed = m_options.stepTokens};
        return false;
    }
    // A block for each that runs stays free, or this one would be thrown out at once.
    KvRoom room{.begin = hit,
                .stepEnd = hit + chunk,
                .knownEnd = sequence.size(),
                .spare = static_cast<std::int64_t>(m_running.size())};
    while (const auto shortage = m_kv.admit(sequence.kv, room)) {
        if (m_running.empty()) {
            stopWaiting(sequence);
            sequence.isUnservable = true;
            m_decisions.unservable.push_back(sequence.id);
            return true;
        }
        Sequence* victim = victimFor(sequence, false);
        if (victim == nullptr) {
            sequence.wait = WaitState{
                .cause = WaitCause::kBlocks, .needed = shortage->needed, .free = shortage->free};
            return false;
        }
        preempt(*victim);
        room.spare = static_cast<std::int64_t>(m_running.size());
    }
    stopWaiting(sequence);
    sequence.computed = hit;
    m_decisions.admitted.push_back(
        Admission{.id = sequence.id, .hitTokens = hit, .isFirst = !sequence.wasAdmitted});
    sequence.wasAdmitted = true;
    startRunning(sequence);
    schedule(sequence, chunk);
    return true;
}

std::int64_t Scheduler::chunkFor(const Sequence& sequence, std::int64_t begin) const {
    if (m_budget.sequences <= 0) {
        return 0;
    }
    const std::int64_t remaining = sequence.size() - begin;
    std::int64_t chunk = std::min(m_budget.tokens, remaining);
    if (m_options.takesWhole) {
        return chunk < remaining || m_budget.rows < 1 ? 0 : chunk;
    }
    if (m_options.maxChunk > 0) {
        chunk = std::min(chunk, m_options.maxChunk);
    }
    const std::int64_t excess = sequence.rowsIn(begin, begin + chunk) - m_budget.rows;
    return excess > 0 ? chunk - excess : chunk;
}

bool Scheduler::makeRoom(Sequence& sequence, std::int64_t chunk) {
    const KvRoom room{.begin = sequence.computed,
                      .stepEnd = sequence.computed + chunk,
                      .knownEnd = sequence.size(),
                      .spare = 0};
    while (const auto shortage = m_kv.extend(sequence.kv, room)) {
        Sequence* victim = victimFor(sequence, false);
        if (victim == nullptr) {
            sequence.wait = WaitState{
                .cause = WaitCause::kBlocks, .needed = shortage->needed, .free = shortage->free};
            preempt(sequence);
            return false;
        }
        preempt(*victim);
    }
    return true;
}

Scheduler::Sequence* Scheduler::victimFor(const Sequence& sequence, bool needsSlot) const {
    if (!needsSlot) {
        for (auto it = m_running.rbegin(); it != m_running.rend(); ++it) {
            if ((*it)->isPaused && *it != &sequence) {
                return *it;
            }
        }
    }
    const auto last = std::find_if(m_running.rbegin(), m_running.rend(),
                                   [](const Sequence* s) { return !s->isPaused; });
    if (last == m_running.rend()) {
        return nullptr;
    }
    const bool givesWay =
        sequence.isRunning ? Earlier()(&sequence, *last) : sequence.priority < (*last)->priority;
    return givesWay ? *last : nullptr;
}

void Scheduler::schedule(Sequence& sequence, std::int64_t chunk) {
    sequence.chunk = chunk;
    sequence.wait = {};
    m_budget.tokens -= chunk;
    m_budget.rows -= sequence.rowsIn(sequence.computed, sequence.computed + chunk);
    m_budget.sequences -= 1;
}

void Scheduler::unschedule(Sequence& sequence) {
    if (sequence.chunk > 0) {
        m_budget.tokens += sequence.chunk;
        m_budget.rows += sequence.rowsIn(sequence.computed, sequence.computed + sequence.chunk);
        m_budget.sequences += 1;
        sequence.chunk = 0;
    }
}

void Scheduler::preempt(Sequence& sequence) {
    unschedule(sequence);
    m_kv.release(sequence.kv);
    sequence.computed = 0;
    ++sequence.preemptions;
    m_decisions.preempted.push_back(sequence.id);
    stopRunning(sequence);
    startWaiting(sequence);
}

void Scheduler::startRunning(Sequence& sequence) {
    sequence.isRunning = true;
    m_running.insert(std::upper_bound(m_running.begin(), m_running.end(), &sequence, Earlier()),
                     &sequence);
}

void Scheduler::stopRunning(Sequence& sequence) {
    sequence.isRunning = false;
    m_running.erase(std::lower_bound(m_running.begin(), m_running.end(), &sequence, Earlier()));
}

void Scheduler::startWaiting(Sequence& sequence) {
    if (sequence.isPaused) {
        ++m_pausedWaiting;
    } else {
        m_waiting.insert(&sequence);
    }
}

void Scheduler::stopWaiting(Sequence& sequence) {
    if (sequence.isPaused) {
        --m_pausedWaiting;
    } else {
        m_waiting.erase(&sequence);
    }
}

void Scheduler::fillPlan(BatchPlan& plan) {
    plan.tokens.clear();
    plan.positions.clear();
    plan.tokenTypes.clear();
    plan.slices.clear();
    plan.sequences.clear();
    plan.adapters.clear();
    plan.outputRows.clear();
    plan.outputSlice.clear();
    plan.copies.clear();
    plan.tables.resize(m_kv.groupCount());
    for (GroupTable& table : plan.tables) {
        table.stride = 0;
    }
    m_decisions.prefillTokens = 0;
    m_decisions.decodeTokens = 0;

    for (const Sequence* sequence : m_running) {
        if (sequence->chunk == 0) {
            continue;
        }
        const auto first = static_cast<std::int32_t>(plan.tokens.size());
        const std::int64_t end = sequence->computed + sequence->chunk;
        for (std::int64_t position = sequence->computed; position < end; ++position) {
            if (position >= sequence->rowsFrom) {
                plan.outputRows.push_back(static_cast<std::int32_t>(plan.tokens.size()));
                plan.outputSlice.push_back(static_cast<std::int32_t>(plan.slices.size()));
            }
            plan.tokens.push_back(sequence->tokens[static_cast<std::size_t>(position)]);
            plan.positions.push_back(static_cast<std::int32_t>(position));
            plan.tokenTypes.push_back(
                sequence->typesFrom > 0 && position >= sequence->typesFrom ? 1 : 0);
        }
        plan.slices.push_back(kernels::SequenceSlice{
            .firstToken = first, .tokenCount = static_cast<std::int32_t>(sequence->chunk)});
        plan.sequences.push_back(sequence->id);
        plan.adapters.push_back(sequence->adapterSlot);
        for (std::size_t g = 0; g < plan.tables.size(); ++g) {
            plan.tables[g].stride =
                std::max(plan.tables[g].stride,
                         static_cast<std::int64_t>(sequence->kv.groups[g].table.size()));
        }
        (sequence->remaining() == 1 ? m_decisions.decodeTokens : m_decisions.prefillTokens) +=
            sequence->chunk;
    }
    if (plan.isEmpty()) {
        return;
    }
    ++m_step;
    for (std::size_t g = 0; g < plan.tables.size(); ++g) {
        GroupTable& table = plan.tables[g];
        table.blocks.assign(plan.slices.size() * static_cast<std::size_t>(table.stride), -1);
        auto row = table.blocks.begin();
        for (const Sequence* sequence : m_running) {
            if (sequence->chunk > 0) {
                std::ranges::copy(sequence->kv.groups[g].table, row);
                row += static_cast<std::ptrdiff_t>(table.stride);
            }
        }
    }
    for (const KvCopy& copy : m_copies) {
        plan.copies.push_back(BlockCopy{.group = copy.group, .from = copy.from, .to = copy.to});
    }
    m_copies.clear();
}

void Scheduler::completed(const BatchPlan& plan) {
    for (std::size_t s = 0; s < plan.slices.size(); ++s) {
        Sequence* sequence = find(plan.sequences[s]);
        if (sequence == nullptr || sequence->chunk == 0) {
            continue;
        }
        const std::int64_t end = sequence->computed + sequence->chunk;
        m_kv.written(sequence->kv, sequence->tokens, sequence->computed, end, m_step);
        sequence->computed = end;
        sequence->rowsFrom = std::max(sequence->rowsFrom, end);
        sequence->chunk = 0;
    }
}

void Scheduler::failed() {
    while (!m_running.empty()) {
        preempt(*m_running.back());
    }
    m_copies.clear();
}

std::optional<SequenceView> Scheduler::view(SequenceId id) const {
    const Sequence* sequence = find(id);
    if (sequence == nullptr) {
        return std::nullopt;
    }
    SequenceView view{.id = id,
                      .state = RequestState::kWaiting,
                      .wait = sequence->wait,
                      .tokens = sequence->size(),
                      .computed = sequence->computed,
                      .blocks = sequence->kv.heldBlocks(),
                      .preemptions = sequence->preemptions};
    if (sequence->isPaused) {
        view.state = RequestState::kPaused;
        view.wait.cause = WaitCause::kPaused;
    } else if (sequence->isRunning) {
        view.state = sequence->remaining() > 1 ? RequestState::kPrefill : RequestState::kDecode;
    } else if (sequence->wasAdmitted) {
        view.state = RequestState::kPreempted;
    }
    return view;
}

std::optional<SequenceView> Scheduler::firstWaiting() const {
    return m_waiting.empty() ? std::nullopt : view((*m_waiting.begin())->id);
}

std::vector<SequenceView> Scheduler::views() const {
    std::vector<SequenceView> views;
    views.reserve(m_sequences.size());
    for (const Sequence* sequence : m_running) {
        views.push_back(*view(sequence->id));
    }
    std::int64_t ahead = 0;
    for (const Sequence* sequence : m_waiting) {
        views.push_back(*view(sequence->id));
        if (ahead > 0) {
            views.back().wait = WaitState{.cause = WaitCause::kBehind, .ahead = ahead};
        }
        ++ahead;
    }
    if (m_pausedWaiting > 0) {
        for (const auto& [id, sequence] : m_sequences) {
            if (!sequence->isRunning && sequence->isPaused) {
                views.push_back(*view(id));
            }
        }
    }
    return views;
}

std::span<const TokenId> Scheduler::tokens(SequenceId id) const {
    const Sequence* sequence = find(id);
    return sequence == nullptr ? std::span<const TokenId>() : sequence->tokens;
}

}  // namespace quern::engine
