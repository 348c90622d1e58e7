#pragma once

#include <cstddef>
#include <string_view>

#include "engine/formats/architecture.h"
#include "engine/formats/hyperparameters.h"
#include "engine/formats/json_file.h"

namespace quern::engine {

/// What a config.json says of the model's shape, in the style of transformers 4 or 5; what it
/// leaves out is the default of the class of `modelType`. `tensors` bounds the number of layers.
/// kCorrupt names the key; kUnsupported what the model has that is not here.
[[nodiscard]] Result<Hyperparameters> readHfParameters(const Json& config,
                                                       const Architecture& architecture,
                                                       std::string_view modelType,
                                                       std::size_t tensors);

}  // namespace quern::engine
