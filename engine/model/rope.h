#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/model_spec.h"
#include "kernels/result.h"

namespace quern::engine {

/// What a RopeOp needs: how fast each pair of columns turns.
struct RopeTable {
    std::vector<float> freqs;  // [rotaryDim / 2], radians a position
    float magnitude = 1.0F;    // on cos and sin
};

/// The table of a spec, in the float32 arithmetic of the reference implementation (transformers).
/// `contextTokens` is the longest sequence that will be served: long-rope chooses its list by it
/// and dynamic NTK its base, once for all sequences, so that cached keys never change their
/// meaning. kCorrupt names the field that makes no sense.
[[nodiscard]] Result<RopeTable> ropeTable(const RopeSpec& spec, std::int64_t contextTokens);

/// The context to make a model's tables for, so that a sequence of `tokens` gets the positions that
/// the reference gives one of this length: the same for all lengths, except that long-rope has two
/// lists and dynamic NTK a base a length.
[[nodiscard]] std::int64_t ropeContext(const ModelSpec& spec, std::int64_t tokens);

/// The longest sequence that there are positions for: the model's context, which dynamic NTK
/// stretches.
[[nodiscard]] std::int64_t mostTokens(const ModelSpec& spec);

}  // namespace quern::engine
