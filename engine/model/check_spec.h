#pragma once

#include "engine/model/model_spec.h"
#include "kernels/result.h"

namespace quern::engine {

/// What the tensors' shapes can't tell of a spec: sizes that products are made of, divisibility,
/// indices. kCorrupt names the size that is wrong, and its layer.
[[nodiscard]] Status checkSpec(const ModelSpec& spec);

}  // namespace quern::engine
