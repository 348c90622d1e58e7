#pragma once

#include "engine/formats/architecture.h"
#include "engine/formats/hf_config.h"
#include "engine/formats/hyperparameters.h"

namespace quern::engine {

/// The experts of a config.json, once the dense sizes are read. Errors stay in `config`.
void readHfExperts(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters);

}  // namespace quern::engine
