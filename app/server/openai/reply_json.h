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

/// A call of a tool, whole or a piece of it: the name comes first and alone, with the id, and
/// pieces of its arguments follow.
struct ReplyCall {
    std::size_t index = 0;
    std::string id;
    std::string name;
    std::string arguments;
};

/// One choice, whole or the news of it.
struct ReplyChoice {
    std::int32_t index = 0;
    std::string text;
    std::string reasoning;
    std::vector<ReplyCall> calls;
    bool hasCalls = false;  // with `finish`: the reply called tools
    bool isFirst = false;   // chunks: the role goes with the first
    std::vector<engine::TokenLogprob> logprobs;
    bool hasLogprobs = false;
    std::vector<engine::TokenLogprob> promptLogprobs;
    bool hasPromptLogprobs = false;
    std::size_t echoed = 0;      // of `logprobs`, how many at the start are the prompt's
    std::size_t textOffset = 0;  // completions: where the first of `logprobs` stands in the text
    std::optional<engine::FinishInfo> finish;
};

struct ReplyUsage {
    std::int64_t prompt = 0;
    std::int64_t cached = 0;  // of the prompt
    std::int64_t completion = 0;
    std::int64_t reasoning = 0;  // of the completion
};
[[nodiscard]] Json usageJson(const ReplyUsage& usage);
/// A chunk of a stream: a piece of one kind, or the choice's end (finish), never both.
[[nodiscard]] Json chunkJson(const ReplyIdentity& identity, const ReplyChoice& choice);
/// A chunk without choices, for include_usage.
[[nodiscard]] Json usageChunkJson(const ReplyIdentity& identity, const Json& usage);
/// The whole answer.
[[nodiscard]] Json replyJson(const ReplyIdentity& identity, const std::vector<ReplyChoice>& choices,
                             const Json& usage);

/// JSON text; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string jsonText(const Json& json);

}  // namespace quern::app
