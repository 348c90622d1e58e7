#pragma once

#include <string>
#include <vector>

#include "engine/convert/tensor_rows.h"
#include "engine/formats/read_model.h"

namespace quern::engine::convert {

struct NamedRows {
    std::string name;  // as the GGUF file has it
    TensorRows rows;
};

/// The tensors of a Hugging Face folder under GGUF's names, as GGUF holds them: rotary columns in
/// that format's order, fused rows by kind, matrices [out, in], norms that need no offset. Borrows
/// `model`, whose tensors are not arranged yet. Errors name the tensor.
[[nodiscard]] Result<std::vector<NamedRows>> folderTensors(const ReadModel& model);

}  // namespace quern::engine::convert
