#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>

#include "kernels/ops.h"
#include "kernels/result.h"

namespace quern::engine {

/// LFM2: x, gated by a row of its own, passes a short convolution and is gated again.
struct ShortConvSpec {
    std::int64_t rows = 0;  // of the convolution, the token's own included
};

/// Mamba 2: a convolution, then a selective scan, gated and normalized by groups.
struct Mamba2Spec {
    std::int64_t rows = 0;                                        // of the convolution
    kernels::Activation activation = kernels::Activation::kSilu;  // after it
    std::int64_t heads = 0;
    std::int64_t headDim = 0;
    std::int64_t stateSize = 0;
    std::int64_t groups = 1;
    float stepMin = 0.0F;
    float stepMax = std::numeric_limits<float>::max();
};

/// Qwen 3 Next: a convolution, then linear attention by the gated delta rule, normalized by head
/// and gated.
struct DeltaNetSpec {
    std::int64_t rows = 0;                                        // of the convolution
    kernels::Activation activation = kernels::Activation::kSilu;  // after it
    std::int64_t keyHeads = 0;
    std::int64_t valueHeads = 0;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
};

/// What stands in attention's place in a layer that keeps a state; monostate: attention does.
using StateSpec = std::variant<std::monostate, ShortConvSpec, Mamba2Spec, DeltaNetSpec>;

/// Columns of what comes out of the mixer …
[[nodiscard]] std::int64_t innerOf(const Mamba2Spec& spec);
[[nodiscard]] std::int64_t innerOf(const DeltaNetSpec& spec);
/// … and of what passes its convolution.
[[nodiscard]] std::int64_t convCols(const Mamba2Spec& spec);
[[nodiscard]] std::int64_t convCols(const DeltaNetSpec& spec);

/// Floats of all states that a layer keeps of a sequence. Of a spec that passed checkState.
[[nodiscard]] std::int64_t stateFloats(const StateSpec& spec, std::int64_t hidden);

/// Columns of the widest row inside it.
[[nodiscard]] std::int64_t stateWidth(const StateSpec& spec, std::int64_t hidden);

/// Sizes that products are made of, and divisibility. kCorrupt names the size that is wrong; `at`
/// is where.
[[nodiscard]] Status checkState(const StateSpec& spec, const std::string& at);

}  // namespace quern::engine
