#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/server/openai/generation_request.h"
#include "engine/request.h"

namespace quern::app {

using Json = nlohmann::ordered_json;

/// What all chunks of one answer share.
struct ReplyIdentity {
    GenerationKind kind = GenerationKind::kChat;
    std::string id;
    std::int64_t created = 0;  // seconds since 1970
    std::string model;
};

/// One choice, whole or the news of it.
struct ReplyChoice {
    std::int32_t index = 0;
    std::string text;
    bool isFirst = false;  // chunks: the role goes with the first
    std::vector<engine::TokenLogprob> logprobs;
    bool hasLogprobs = false;
    std::vector<engine::TokenLogprob> promptLogprobs;
    bool hasPromptLogprobs = false;
    std::size_t echoed = 0;      // of `logprobs`, how many at the start are the prompt's
    std::size_t textOffset = 0;  // completions: where the first of `logprobs` stands in the text
    std::int32_t completionTokens = 0;
    std::optional<engine::FinishInfo> finish;
};

[[nodiscard]] Json usageJson(std::int64_t prompt, std::int64_t cached, std::int64_t completion);
/// A chunk of a stream: the choice's text, or its end (finish), never both.
[[nodiscard]] Json chunkJson(const ReplyIdentity& identity, const ReplyChoice& choice);
/// A chunk without choices, for include_usage.
[[nodiscard]] Json usageChunkJson(const ReplyIdentity& identity, const Json& usage);
/// The whole answer.
[[nodiscard]] Json replyJson(const ReplyIdentity& identity, const std::vector<ReplyChoice>& choices,
                             const Json& usage);

/// JSON text; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string jsonText(const Json& json);

}  // namespace quern::app
