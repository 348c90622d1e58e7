#pragma once

#include <string_view>

#include "engine/formats/gguf_keys.h"
#include "engine/formats/hf_config.h"
#include "engine/formats/hyperparameters.h"

namespace quern::engine {

/// Which layers keep a state, and its sizes, into `parameters`, whose lists have their lengths.
/// Nothing happens for an architecture without such layers.
void readHfState(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters);

/// Likewise, of a GGUF file's keys.
void readGgufState(GgufKeys& keys, const Architecture& architecture, Hyperparameters& parameters);

/// Whether layer_types may name such a layer so.
[[nodiscard]] bool isStateLayerType(const Architecture& architecture, std::string_view type);

}  // namespace quern::engine
