#pragma once

#include <cstdint>
#include <vector>

#include "tests/kernels/cpu/list_builder.h"

namespace quern::kernels::test {

/// Computes an op list in double precision, straight from the definitions in ops.h: no paging, no
/// batching, no reordering. `tokens` is one whole sequence from position 0; the result has a row
/// for each token: [tokens, output cols]. `types` (empty: all 0) are the tokens' types.
[[nodiscard]] std::vector<double> evaluate(const TestList& list,
                                           const std::vector<std::int32_t>& tokens,
                                           const std::vector<std::int32_t>& types = {});

}  // namespace quern::kernels::test
