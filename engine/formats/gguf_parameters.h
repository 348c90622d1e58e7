#pragma once

#include "engine/formats/architecture.h"
#include "engine/formats/gguf.h"
#include "engine/formats/hyperparameters.h"

namespace quern::engine {

/// What the metadata under "<architecture>." say of the model's shape. kCorrupt names the key;
/// kUnsupported what the model has that is not here (experts).
[[nodiscard]] Result<Hyperparameters> readGgufParameters(const GgufFile& file,
                                                         const Architecture& architecture);

}  // namespace quern::engine
