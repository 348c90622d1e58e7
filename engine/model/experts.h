#pragma once

#include <string>

#include "engine/model/model_spec.h"
#include "engine/model/pass_builder.h"
#include "kernels/result.h"

namespace quern::engine {

/// What the tensors' shapes can't tell of a layer of experts. `at`: "layer 3: ".
[[nodiscard]] Status checkExperts(const ExpertsSpec& spec, const std::string& at);

/// Writes the feed-forward block of a layer of experts. Ops are named `name` + …, tensors are
/// `tensor` + …
[[nodiscard]] kernels::ValueId expertsBlock(PassBuilder& pass, const LayerSpec& layer,
                                            std::int64_t hiddenSize, const std::string& name,
                                            const std::string& tensor, kernels::ValueId x);

}  // namespace quern::engine
