#pragma once

#include "engine/formats/read_model.h"
#include "kernels/result.h"

namespace quern::engine {

/// Brings the matrices of layers of experts to gate, up and down, an expert at a time where they
/// are stored together. Copies only what cannot be a view. kCorrupt names the tensor whose shape is
/// not what the parameters say.
[[nodiscard]] Status arrangeExperts(ReadModel& model);

}  // namespace quern::engine
