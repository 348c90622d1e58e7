#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/server/openai/api_error.h"
#include "engine/request.h"

namespace quern::app {

enum class GenerationKind : std::uint8_t { kChat, kCompletion };

/// A request of /v1/chat/completions or /v1/completions, read and checked.
struct GenerationRequest {
    GenerationKind kind = GenerationKind::kChat;
    std::string model;                     // as given; empty: the only one
    std::vector<engine::Request> prompts;  // one each; several for completions
    std::int32_t choices = 1;              // of each prompt
    bool isStream = false;
    bool includesUsage = false;
    bool continuousUsage = false;
    bool echoes = false;            // completions: the prompt comes first
    bool dropsOutput = false;       // completions: max_tokens 0, only the prompt is wanted
    bool hasOneCallAtMost = false;  // parallel_tool_calls is false
    std::int32_t topLogprobs = -1;
    bool promptLogprobs = false;
    std::string requestId;
    std::vector<std::string> warnings;  // fields nobody knows
};

/// The sampling that a model has where a request says nothing; the name as in the request.
using DefaultsOf = std::function<engine::SamplingParams(const std::string& model)>;

/// 400 with the field, what was given and what is allowed. A parameter that is known and cannot be
/// honoured is refused, never ignored.
[[nodiscard]] tl::expected<GenerationRequest, ApiError> readGenerationRequest(
    GenerationKind kind, const std::string& body, const DefaultsOf& defaultsOf);

}  // namespace quern::app
