#pragma once

#include <vector>

#include "engine/convert/named_rows.h"

namespace quern::engine::convert {

/// Adds the matrices and biases of a layer's experts, stacked as GGUF has them: [experts, rows,
/// cols]. Errors name the tensor.
[[nodiscard]] Status addExpertRows(const ReadModel& model, std::int64_t layer,
                                   std::vector<NamedRows>& tensors);
/// Whether a canonical name without its layer is of a tensor that addExpertRows writes.
[[nodiscard]] bool isOfExperts(std::string_view stem);

}  // namespace quern::engine::convert
