#include <algorithm>

#include "engine/core/model_runtime.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

std::string kindOf(const KvManager& kv, std::size_t group) {
    if (kv.isState(group)) {
        return "state";
    }
    const std::int64_t window = kv.window(group);
    return window == 0 ? "full" : "window " + std::to_string(window);
}

std::string lowerName(kernels::DType type) {
    std::string name(kernels::traits(type).name);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

std::vector<KvGroupSnapshot> snapshotGroups(const KvManager& kv, const kernels::KvLayout& layout) {
    std::vector<KvGroupSnapshot> groups;
    for (std::size_t g = 0; g < kv.groupCount(); ++g) {
        const BlockPool& pool = kv.pool(g);
        groups.push_back(KvGroupSnapshot{
            .kind = kindOf(kv, g),
            .blocks = pool.size(),
            .held = pool.heldCount(),
            .shared = pool.sharedCount(),
            .cached = pool.cachedCount(),
            .blockBytes = kernels::kvBlockBytes(layout, static_cast<std::int32_t>(g))});
    }
    return groups;
}

double secondsSince(std::chrono::steady_clock::time_point then,
                    std::chrono::steady_clock::time_point now) {
    return std::chrono::duration<double>(now - then).count();
}

RequestSnapshot snapshotRequest(const ActiveRequest& request, const SequenceView& view,
                                std::chrono::steady_clock::time_point now) {
    RequestSnapshot snapshot{
        .id = request.id,
        .clientId = request.prepared.request.clientId,
        .adapter = request.prepared.request.adapter,
        .state = view.state,
        .waitReason = describe(view.wait),
        .color = request.color,
        .promptTokens = static_cast<std::int32_t>(request.prepared.promptIds.size()),
        .computedTokens = static_cast<std::int32_t>(view.computed),
        .cachedTokens = request.cachedTokens,
        .ageSeconds = secondsSince(request.prepared.request.arrival, now)};
    std::optional<std::chrono::steady_clock::time_point> first;
    for (const ActiveRequest::Choice& choice : request.choices) {
        snapshot.generatedTokens += choice.completionTokens;
        if (choice.firstToken) {
            first = std::min(first.value_or(*choice.firstToken), *choice.firstToken);
        }
    }
    if (first && now > *first) {
        snapshot.tokensPerSecond = snapshot.generatedTokens / secondsSince(*first, now);
    }
    return snapshot;
}

// A name that was unloaded and loaded again counts for the one that takes requests.
void countUser(std::vector<AdapterSnapshot>& adapters, const std::string& name, bool isRunning) {
    for (auto adapter = adapters.rbegin(); adapter != adapters.rend(); ++adapter) {
        if (adapter->name == name) {
            ++(isRunning ? adapter->running : adapter->waiting);
            return;
        }
    }
}

}  // namespace

ModelSnapshot ModelRuntime::snapshot(Clock::time_point now) const {
    const LoadedModel& model = *m_config.model;
    ModelSnapshot snapshot{
        .name = model.name,
        .path = model.info.path.string(),
        .device = m_config.device,
        .activations = model.options.activations == kernels::ActivationType::kQ8 ? "q8" : "f32",
        .kvType = lowerName(model.options.kvType),
        .contextTokens = model.options.contextTokens,
        .weightBytes = m_weightBytes,
        .kvBytes = m_kvBytes,
        .scratchBytes = m_scratchBytes,
        .adapters = m_adapters.snapshot(),
        .groups = snapshotGroups(m_kv, m_config.runner->kvLayout())};
    for (const SequenceView& view : m_scheduler.views()) {
        const Active* request = find(view.id);
        if (request == nullptr) {
            continue;
        }
        // The views come in order, so a request shows the state of its choice that is furthest.
        auto shown = std::ranges::find(snapshot.requests, request->id, &RequestSnapshot::id);
        if (shown == snapshot.requests.end()) {
            snapshot.requests.push_back(snapshotRequest(*request, view, now));
            shown = snapshot.requests.end() - 1;
            const bool isRunning =
                view.state == RequestState::kPrefill || view.state == RequestState::kDecode;
            ++(isRunning ? snapshot.running : snapshot.waiting);
            countUser(snapshot.adapters, request->prepared.request.adapter, isRunning);
        }
        shown->blocks += static_cast<std::int32_t>(view.blocks);
        shown->preemptions += view.preemptions;
    }
    for (const AdapterSnapshot& adapter : snapshot.adapters) {
        snapshot.adapterBytes += adapter.bytes;
    }
    snapshot.counters = m_metrics.counters();
    snapshot.counters.evictions = m_kv.evictions();
    snapshot.rates = m_metrics.rates(now);
    snapshot.lastUsedSecondsAgo = secondsSince(m_lastUsed, now);
    return snapshot;
}

}  // namespace quern::engine
