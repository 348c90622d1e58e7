#pragma once

#include <vector>

#include "engine/convert/named_rows.h"

namespace quern::engine::convert {

/// Adds the two halves of a layer's attn_kv_b as GGUF has them: attn_k_b [heads, rank, nopeDim], by
/// columns, and attn_v_b [heads, valueDim, rank]. Errors name the tensor.
[[nodiscard]] Status addLatentRows(const ReadModel& model, std::int64_t layer,
                                   std::vector<NamedRows>& tensors);

}  // namespace quern::engine::convert
