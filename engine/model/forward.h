#pragma once

#include <vector>

#include "engine/formats/model_source.h"
#include "engine/model/model_spec.h"
#include "kernels/ops.h"
#include "kernels/paged_kv.h"
#include "kernels/result.h"

namespace quern::engine {

/// What a group of the cache must keep.
struct KvGroupSpec {
    std::int64_t window = 0;  // tokens that must stay; 0: all
    bool isState = false;     // states instead of tokens
};

/// A model's forward pass as an op list, with the data of its weights.
struct ForwardPass {
    kernels::OpList ops;
    std::vector<kernels::TensorView> weights;  // data of ops.weights, borrowed from the source …
    std::vector<std::vector<float>> owned;     // … or held here (vectors, rope frequencies)
    kernels::KvLayout kv;                      // its type is set by the caller
    std::vector<KvGroupSpec> groups;           // [kv.groups]
};

/// Builds the pass of any ModelSpec. kCorrupt names a tensor that is missing or has another shape
/// than the spec says, with both shapes. The source must outlive the use of `weights`.
/// Vectors (norm weights, biases, sinks, rope tables) are F32 whatever the file holds. From the
/// last layer's attention on only the rows of outputs are computed. `contextTokens`: the longest
/// sequence that will be served, 0 for the model's own (see ropeTable).
[[nodiscard]] Result<ForwardPass> buildForward(const ModelSpec& spec, const TensorSource& tensors,
                                               std::int64_t contextTokens = 0);

}  // namespace quern::engine
