#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/request.h"

namespace quern::engine {

/// A histogram of fixed buckets.
struct HistogramSnapshot {
    std::vector<double> upperBounds;    // ascending; the last bucket, +inf, is implied
    std::vector<std::uint64_t> counts;  // one more than bounds, not cumulative
    double sum = 0;
    [[nodiscard]] std::uint64_t count() const;
    /// Estimate by linear interpolation inside the bucket; 0 when empty. q in [0, 1].
    [[nodiscard]] double quantile(double q) const;
};

enum class RequestState : std::uint8_t { kWaiting, kPrefill, kDecode, kPaused, kPreempted };

/// A request that is in the engine now.
struct RequestSnapshot {
    RequestId id = 0;
    std::string clientId;
    std::string adapter;  // empty: none
    RequestState state = RequestState::kWaiting;
    std::string waitReason;  // why it waits: "no free blocks: needs 12, 3 free"
    std::int32_t color = 0;  // 0…7: its hue in the KV map
    std::int32_t promptTokens = 0;
    std::int32_t computedTokens = 0;
    std::int32_t cachedTokens = 0;
    std::int32_t generatedTokens = 0;
    std::int32_t blocks = 0;
    std::int32_t preemptions = 0;
    double ageSeconds = 0;
    double tokensPerSecond = 0;
};

/// Counters since the model was loaded; vLLM's names without the prefix where it has one.
struct ModelCounters {
    std::uint64_t promptTokens = 0;
    std::uint64_t generationTokens = 0;
    std::uint64_t prefixCacheQueries = 0;  // tokens looked up, once a request
    std::uint64_t prefixCacheHits = 0;     // tokens found, once a request
    std::uint64_t promptTokensCached = 0;
    std::uint64_t preemptions = 0;
    std::array<std::uint64_t, 6> finished{};  // by FinishReason
    std::uint64_t steps = 0;
    std::uint64_t evictions = 0;
    HistogramSnapshot ttft;
    HistogramSnapshot interToken;
    HistogramSnapshot e2e;
    HistogramSnapshot queueTime;
    HistogramSnapshot prefillTime;
    HistogramSnapshot decodeTime;
    HistogramSnapshot inferenceTime;
    HistogramSnapshot promptLength;
    HistogramSnapshot generationLength;
    HistogramSnapshot requestChoices;
    HistogramSnapshot requestMaxTokens;
    HistogramSnapshot stepTokens;
};

/// Figures over the last seconds, for live display.
struct LiveRates {
    double decodeTokensPerSecond = 0;  // over the last 2 s
    double prefillTokensPerSecond = 0;
    double ttftP95Ms = 0;  // over the last minute
    double itlP95Ms = 0;
    double prefixHitRate = 0;  // over the last minute, 0…1
};

struct KvGroupSnapshot {
    std::string kind;  // "full", "window 512", "state": a block is a state, not 16 tokens
    std::int64_t blocks = 0;
    std::int64_t held = 0;    // by running or preempted requests
    std::int64_t shared = 0;  // held by more than one
    std::int64_t cached = 0;  // findable, free to take
    std::int64_t blockBytes = 0;
};

/// An adapter of a model, also one that was unloaded and still has requests.
struct AdapterSnapshot {
    std::string name;
    std::int64_t bytes = 0;
    std::int32_t running = 0;  // requests
    std::int32_t waiting = 0;
    bool isLeaving = false;  // unloaded: takes no further requests
};

struct ModelSnapshot {
    std::string name;
    std::string path;
    std::string device;
    std::string activations;  // "q8", "f32"
    std::string kvType;       // "f16"
    std::int64_t contextTokens = 0;
    std::int64_t weightBytes = 0;
    std::int64_t kvBytes = 0;
    std::int64_t scratchBytes = 0;
    std::int64_t adapterBytes = 0;
    std::vector<AdapterSnapshot> adapters;
    std::vector<KvGroupSnapshot> groups;
    std::vector<RequestSnapshot> requests;  // running first, then waiting in order
    std::int32_t running = 0;
    std::int32_t waiting = 0;
    ModelCounters counters;
    LiveRates rates;
    double lastUsedSecondsAgo = 0;
};

struct MemorySnapshot {
    std::int64_t totalBytes = 0;  // what this process may use (cgroup-aware)
    std::int64_t freeBytes = 0;
    std::int64_t processBytes = 0;  // resident now
    std::int64_t weightBytes = 0;
    std::int64_t kvBytes = 0;
};

/// The engine at one moment. A value: it never changes after it was taken.
struct EngineSnapshot {
    std::vector<ModelSnapshot> models;
    MemorySnapshot memory;
    bool isDraining = false;
};

enum class BlockState : std::uint8_t { kFree, kCached, kHeld, kShared };

/// One cell of the KV map.
struct BlockCell {
    BlockState state = BlockState::kFree;
    std::uint8_t color = 0;         // of the (first) holder or the last one
    std::uint16_t sharers = 0;      // requests that hold it
    std::uint32_t lastWrite = 0;    // step number of the last write, modulo 2³²
    RequestId owner = 0;            // last holder
    std::int32_t logicalIndex = 0;  // place in the owner's sequence
};

/// A reader's copy of one group's map. Keep one and pass it to Engine::foldKvMap again and again:
/// only what changed is applied.
struct KvMap {
    std::uint64_t version = 0;  // 0: never filled
    std::uint32_t step = 0;
    std::vector<BlockCell> cells;
};

}  // namespace quern::engine
