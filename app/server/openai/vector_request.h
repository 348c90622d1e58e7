#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/server/openai/fields.h"
#include "engine/embed.h"

namespace quern::app {

enum class VectorKind : std::uint8_t { kEmbeddings, kRerank, kScore };

/// A request of /v1/embeddings, /v1/rerank or /v1/score, read and checked.
struct VectorRequest {
    std::string model;                      // as given; empty: the only one
    std::vector<engine::Request> requests;  // one a text or a pair
    /// The answer's own part, once all are there, in the order of the requests.
    std::function<Json(const std::vector<engine::VectorReply>&)> answer;
    std::vector<std::string> warnings;  // fields nobody knows
};

/// 400 with the field, what was given and what is allowed.
[[nodiscard]] tl::expected<VectorRequest, ApiError> readVectorRequest(VectorKind kind,
                                                                      const std::string& body);

/// Float32 numbers, little-endian, as base64 (RFC 4648): what `encoding_format` asks for.
[[nodiscard]] std::string base64Of(const std::vector<float>& vector);

}  // namespace quern::app
