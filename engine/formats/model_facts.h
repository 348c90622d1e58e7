#pragma once

#include <cstdint>
#include <string>

#include "engine/model/model_spec.h"
#include "engine/model_info.h"
#include "kernels/tensor.h"

namespace quern::engine {

/// Adds a tensor to the list and to the sums.
void addTensor(ModelInfo& info, std::string name, const kernels::TensorView& view,
               std::int64_t bytes);

/// The name of the type that most weight bytes are in; empty without tensors.
[[nodiscard]] std::string mostBytesType(const ModelInfo& info);

/// What the spec of a supported model says.
void completeInfo(const ModelSpec& spec, ModelInfo& info);

}  // namespace quern::engine
