#pragma once

#include <cstdint>

#include "kernels/cpu/step.h"

namespace quern::kernels::cpu {

/// How a stage's work is cut in this step. A unit is one tile and some heads of one KV head; an
/// item is a unit, or one span of a unit.
struct AttentionCut {
    std::int64_t headsPerUnit = 0;
    std::int64_t unitsPerKv = 0;
    std::int64_t unitsPerTile = 0;
    std::int64_t units = 0;
    bool isBySpan = false;
};

[[nodiscard]] AttentionCut cutWork(const StepContext& step, const AttentionPart& part);

/// Spans of 256 keys, by absolute position.
struct KeySpans {
    std::int64_t first = 0;
    std::int64_t last = 0;  // one past
    [[nodiscard]] std::int64_t count() const { return last - first; }
};

/// Those that a tile's tokens see anything of.
[[nodiscard]] KeySpans spansOf(const StepContext& step, const AttentionPart& part,
                               const AttentionTile& tile);

/// Keys [begin, end), by absolute position.
struct KeyRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Those that one token of a tile sees.
[[nodiscard]] KeyRange keysOf(const StepContext& step, const AttentionPart& part,
                              const AttentionTile& tile, std::int32_t token);

/// One tile and some query heads that share a KV head.
struct AttentionUnit {
    const AttentionTile* tile = nullptr;
    std::int64_t kvHead = 0;
    std::int64_t firstHead = 0;  // of the query
    std::int64_t heads = 0;
    [[nodiscard]] std::int64_t rows() const { return tile->tokens * heads; }
};

/// AttentionUnit `inTile` of [0, unitsPerTile).
[[nodiscard]] AttentionUnit unitAt(const AttentionPart& part, const AttentionCut& cut,
                                   const AttentionTile& tile, std::int64_t inTile);

/// Floats of a unit's (max, sum, acc) over one span.
[[nodiscard]] std::int64_t unitFloats(const AttentionPart& part, const AttentionCut& cut,
                                      const AttentionTile& tile);

}  // namespace quern::kernels::cpu
