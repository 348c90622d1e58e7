#pragma once

#include <span>
#include <vector>

#include "engine/model_info.h"
#include "engine/request.h"

namespace quern::engine {

/// What a request gets of its pooled row: the first `dimensions` elements, then brought to length 1
/// where it is wanted, summed in double precision in order. A row of zeros stays one. Scores stay
/// as the model gives them.
[[nodiscard]] std::vector<float> finishedVector(std::span<const float> row,
                                                const VectorParams& params, const ModelInfo& info);

}  // namespace quern::engine
