#pragma once

#include <vector>

#include "engine/convert/named_rows.h"

namespace quern::engine::convert {

/// Adds the tensors of a layer that keeps a state, under GGUF's names and in its shapes. Errors
/// name the tensor.
[[nodiscard]] Status addStateRows(const ReadModel& model, std::int64_t layer,
                                  std::vector<NamedRows>& tensors);
/// Whether a canonical name without its layer is of a tensor that addStateRows writes.
[[nodiscard]] bool isOfState(std::string_view stem);

}  // namespace quern::engine::convert
