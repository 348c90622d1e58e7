#pragma once

#include <cstdint>
#include <string>

#include "engine/model/model_spec.h"
#include "engine/model/pass_builder.h"

namespace quern::engine {

/// Where a state layer's part of the pass is written.
struct StateLayerPlace {
    PassBuilder& pass;
    std::string name;        // of its ops: "layer 3 / "
    std::string tensor;      // of its tensors: "blk.3."
    std::int32_t group = 0;  // of the cache, that holds its states
    std::int64_t hidden = 0;
};

/// What a layer's state mixer makes of `x`, up to its last matrix: rows of tokens. The spec is not
/// monostate.
[[nodiscard]] kernels::ValueId mixByState(const StateSpec& spec, const StateLayerPlace& place,
                                          kernels::ValueId x);

/// Stem of the mixer's last matrix [hidden, …], without the layer: "ssm_out".
[[nodiscard]] std::string stateOutputStem(const StateSpec& spec);

}  // namespace quern::engine
