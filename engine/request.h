#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/reply_parser.h"
#include "engine/text.h"

namespace quern::engine {

using RequestId = std::uint64_t;

/// A call of a tool that a model made. `arguments` is JSON text as the model wrote it.
struct ToolCall {
    std::string id;
    std::string name;
    std::string arguments;
};

/// One message of a chat. Text parts stay apart: the template decides whether it iterates them.
struct ChatMessage {
    std::string role;
    std::vector<std::string> textParts;
    std::string reasoning;
    std::vector<ToolCall> toolCalls;
    std::string toolCallId;
    std::string name;
};

/// A chat to be put through the model's template.
struct ChatPrompt {
    std::vector<ChatMessage> messages;
    std::vector<std::string> tools;  // JSON text of each tool definition
    std::string templateKwargs;      // JSON object text; empty: none
    std::string chatTemplate;        // replaces the model's own; empty: the model's
    bool addGenerationPrompt = true;
    bool continueFinalMessage = false;  // contradicts addGenerationPrompt
};

/// Text to be gone on with, taken as it is. Special tokens are parsed, BOS is added where the model
/// wants it; what a model adds at the end of a text is not.
struct TextPrompt {
    std::string text;
    bool addSpecial = true;
    bool parseSpecial = true;
};

/// Text around a gap that the reply fills, for models that were taught to.
struct InfillPrompt {
    std::string prefix;
    std::string suffix;
};

using TokenPrompt = std::vector<TokenId>;

/// A query and a document, for a model that scores one by the other.
struct PairPrompt {
    std::string query;
    std::string document;
};
using Prompt = std::variant<ChatPrompt, TextPrompt, InfillPrompt, TokenPrompt, PairPrompt>;

/// What is wanted of a model that gives vectors or scores instead of tokens.
struct VectorParams {
    bool isScore = false;              // of a PairPrompt
    std::optional<bool> isNormalized;  // length 1; absent: as the model has it
    std::int64_t dimensions = 0;       // the first so many elements; 0: all
    /// Tokens that a longer text is cut to, special ones included; absent: it is refused.
    std::optional<std::int64_t> truncateTo;
};

/// How tokens are chosen. The defaults leave the distribution as it is. Ranges are checked by
/// prepare(), whose error names the field.
struct SamplingParams {
    float temperature = 1.0F;  // 0: greedy
    std::int32_t topK = 0;     // 0: all
    float topP = 1.0F;
    float minP = 0.0F;
    float typicalP = 1.0F;
    float repetitionPenalty = 1.0F;  // on prompt and output tokens (Keskar et al. 2019)
    float frequencyPenalty = 0.0F;   // on output tokens, as OpenAI defines it
    float presencePenalty = 0.0F;
    std::int32_t repeatLastN = -1;  // tokens the repetition penalty looks at; −1: all
    std::map<TokenId, float> logitBias;
    std::vector<TokenId> allowedTokenIds;  // empty: all
    /// Same seed, same tokens, whatever runs beside it. Absent: one is drawn and reported.
    std::optional<std::uint64_t> seed;
};

/// When a reply ends, and what is shown of it.
struct OutputParams {
    std::optional<std::int32_t> maxTokens;  // absent: until the context is full
    std::int32_t minTokens = 0;             // no end-of-generation token before
    std::vector<std::string> stop;
    std::vector<TokenId> stopTokenIds;
    bool ignoreEos = false;
    bool includeStopText = false;
    bool skipSpecialTokens = true;
    std::int32_t topLogprobs = -1;  // −1: none; 0: of the chosen token only; at most 20 others
    bool promptLogprobs = false;    // of each prompt token (takes no prefix hits)
    std::int32_t promptTopLogprobs = 0;
};

/// A request, of plain values, as a front door builds it.
struct Request {
    std::string model;    // name of a loaded model, or of an adapter: then of both
    std::string adapter;  // name of a loaded adapter of that model; empty: none
    Prompt prompt;
    SamplingParams sampling;
    OutputParams output;
    std::optional<VectorParams> vector;  // instead of a reply
    std::int32_t choices = 1;            // n: replies to the same prompt, sharing its blocks
    std::int32_t priority = 0;           // lower runs first, as in vLLM
    std::string cacheSalt;               // keeps prefix hits among requests of equal salt
    std::string clientId;                // shown in the monitor; no content
    std::chrono::steady_clock::time_point arrival = std::chrono::steady_clock::now();
    std::optional<std::chrono::steady_clock::time_point> deadline;
};

/// A request that has passed the template, the tokenizer and every check.
struct PreparedRequest {
    Request request;
    std::vector<TokenId> promptIds;
    std::string promptText;       // exactly what was tokenized; empty for token prompts
    std::int64_t secondFrom = 0;  // first token of a pair's second text; 0: one text
    std::int64_t typesFrom = 0;   // tokens from here on are of type 1; 0: all are of type 0
    std::uint64_t seed = 0;
    std::uint64_t adapterId = 0;  // LoadedAdapter::id of request.adapter; 0: none
    std::int32_t maxTokens = 0;   // resolved against the context; 0: a vector is wanted
    bool endsAtContext = false;   // maxTokens is what the context leaves, not what was asked
    ReplyFormat replyFormat;      // of chats, for makeReplyParser()
    /// Control tokens that are marks of that format: shown even where special tokens are skipped.
    std::vector<TokenId> markTokens;
};

enum class FinishReason : std::uint8_t {
    kStop,       // end-of-generation token, stop token or stop string
    kLength,     // max tokens
    kContext,    // the context is full
    kCancelled,  // by the client or the user
    kDeadline,
    kError,
};

struct TokenLogprob {
    TokenId token = 0;
    float logprob = 0.0F;  // natural logarithm, of the unmodified distribution
    std::string bytes;
    std::vector<TokenLogprob> top;  // best first; no `top` of their own
};

/// What a finished choice cost.
struct Usage {
    std::int32_t promptTokens = 0;
    std::int32_t cachedTokens = 0;  // of the prompt, served from the prefix cache
    std::int32_t completionTokens = 0;
    std::int32_t preemptions = 0;
    double queueSeconds = 0;    // arrival → first scheduled
    double prefillSeconds = 0;  // first scheduled → first token
    double decodeSeconds = 0;   // first → last token
    double ttftSeconds = 0;     // arrival → first token
};

struct FinishInfo {
    FinishReason reason = FinishReason::kStop;
    std::string stopReason;  // the stop string that matched, or the token's spelling; else empty
    std::optional<TokenId> stopToken;
    std::optional<Error> error;  // with kError
    Usage usage;
};

/// A step's news of one choice of one request. Text never ends inside a UTF-8 sequence, and text
/// that may be the start of a stop string is held until it is certain.
struct TokenEvent {
    RequestId request = 0;
    std::int32_t choice = 0;
    std::string text;
    std::vector<TokenId> tokens;
    std::vector<TokenLogprob> logprobs;        // one a token, when asked for
    std::vector<TokenLogprob> promptLogprobs;  // once, with the first token; the first has none
    std::optional<std::int32_t> cachedTokens;  // once, when first scheduled
    std::vector<float> vector;                 // with the finish of a request for one
    std::optional<FinishInfo> finish;          // exactly once a choice, on its last event
};

/// Where a request's events go. Called on the engine thread: it may only enqueue, never wait.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void onEvent(TokenEvent event) = 0;
};

}  // namespace quern::engine
