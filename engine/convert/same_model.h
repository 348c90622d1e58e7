#pragma once

#include <optional>
#include <string>

#include "engine/model/model_spec.h"

namespace quern::engine::convert {

/// What is different between two models that should compute the same from tensors that are held
/// otherwise (rotary columns in pairs or halves, an offset in the norms or not); absent when
/// nothing is.
[[nodiscard]] std::optional<std::string> differenceOf(const ModelSpec& a, const ModelSpec& b);

}  // namespace quern::engine::convert
