#include "engine/core/vector_result.h"

#include <cmath>

namespace quern::engine {

std::vector<float> finishedVector(std::span<const float> row, const VectorParams& params,
                                  const ModelInfo& info) {
    if (params.dimensions > 0) {
        row = row.first(static_cast<std::size_t>(params.dimensions));
    }
    std::vector<float> vector(row.begin(), row.end());
    if (params.isScore || !params.isNormalized.value_or(info.isNormalized)) {
        return vector;
    }
    double squares = 0;
    for (const float element : vector) {
        squares += static_cast<double>(element) * static_cast<double>(element);
    }
    if (squares > 0) {
        const double inverse = 1.0 / std::sqrt(squares);
        for (float& element : vector) {
            element = static_cast<float>(static_cast<double>(element) * inverse);
        }
    }
    return vector;
}

}  // namespace quern::engine
