#pragma once

#include <vector>

#include "engine/convert/named_rows.h"

namespace quern::engine::convert {

/// The tensors of a Hugging Face folder under GGUF's names, as GGUF holds them: rotary columns in
/// that format's order, fused rows by kind, matrices [out, in], norms that need no offset, experts
/// stacked. Borrows `model`, whose tensors are not arranged yet. Errors name the tensor.
[[nodiscard]] Result<std::vector<NamedRows>> folderTensors(const ReadModel& model);

}  // namespace quern::engine::convert
