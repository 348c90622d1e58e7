#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace quern::engine {

/// What a request for a vector came to.
struct VectorReply {
    std::vector<float> vector;  // of a score: one element
    std::int32_t promptTokens = 0;
};

/// Prepares all requests, submits them together, so that they share steps, and waits for their
/// vectors, in the order of the requests. The first error ends all. Blocks; any thread but an
/// engine's.
[[nodiscard]] Result<std::vector<VectorReply>> embedAll(Engine& engine,
                                                        std::vector<Request> requests);

/// The score of a document as a probability: the logistic function of what a reranker gives.
[[nodiscard]] float scoreAsProbability(float score);

}  // namespace quern::engine
