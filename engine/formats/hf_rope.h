#pragma once

#include "engine/formats/hf_config.h"
#include "engine/formats/hyperparameters.h"

namespace quern::engine {

/// Reads how positions enter, after key length, context and windows are known: transformers 5
/// (rope_parameters, flat or by layer type) and 4 (rope_theta, rope_scaling, rope_local_base_freq,
/// a partial factor under its several names). Errors stay in `config`.
void readHfRope(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters);

}  // namespace quern::engine
