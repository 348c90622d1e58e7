#include "engine/core/prepare.h"

#include <algorithm>
#include <limits>
#include <random>
#include <sstream>
#include <utility>

#include "engine/core/byte_text.h"
#include "engine/core/infill.h"
#include "engine/core/vector_prompt.h"
#include "engine/text/chat_prompt.h"

namespace quern::engine {

namespace {

constexpr std::int32_t kMostChoices = 128;
constexpr std::size_t kMostStops = 64;
constexpr std::int32_t kMostTopLogprobs = 20;
constexpr std::size_t kMostChatBytes = std::size_t{16} << 20U;  // half of what a template writes

// The reply goes on with the prompt: what a model puts at the end of a text would part them.
constexpr EncodeOptions kPromptEncoding{.addSpecial = true, .addEnd = false, .parseSpecial = true};

template <class Number>
std::string show(Number value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

template <class Number>
Status checkRange(std::string field, Number value, Number low, Number high) {
    if (value >= low && value <= high) {  // false for NaN
        return {};
    }
    std::string message =
        field + " is " + show(value) + "; it must be from " + show(low) + " to " + show(high);
    return failField(std::move(field), std::move(message));
}

Status checkAboveZero(std::string field, float value, float most) {
    if (value > 0.0F && value <= most) {
        return {};
    }
    std::string message =
        field + " is " + show(value) + "; it must be above 0 and at most " + show(most);
    return failField(std::move(field), std::move(message));
}

Status checkToken(std::string field, TokenId token, std::int64_t vocabulary) {
    if (token >= 0 && token < vocabulary) {
        return {};
    }
    std::string message = field + " has token " + std::to_string(token) +
                          "; the model has tokens 0 to " + std::to_string(vocabulary - 1);
    return failField(std::move(field), std::move(message));
}

Status firstFailure(std::initializer_list<Status> checks) {
    for (const Status& check : checks) {
        if (!check) {
            return check;
        }
    }
    return {};
}

Status checkSampling(const SamplingParams& sampling, std::int64_t vocabulary) {
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    Status status = firstFailure({
        checkRange("temperature", sampling.temperature, 0.0F, 2.0F),
        checkRange("top_k", sampling.topK, -1, kMost),
        checkRange("top_p", sampling.topP, 0.0F, 1.0F),
        checkRange("min_p", sampling.minP, 0.0F, 1.0F),
        checkAboveZero("typical_p", sampling.typicalP, 1.0F),
        checkAboveZero("repetition_penalty", sampling.repetitionPenalty, 10.0F),
        checkRange("frequency_penalty", sampling.frequencyPenalty, -2.0F, 2.0F),
        checkRange("presence_penalty", sampling.presencePenalty, -2.0F, 2.0F),
        checkRange("repeat_last_n", sampling.repeatLastN, -1, kMost),
    });
    for (auto bias = sampling.logitBias.begin(); status && bias != sampling.logitBias.end();
         ++bias) {
        status = firstFailure({checkToken("logit_bias", bias->first, vocabulary),
                               checkRange("logit_bias", bias->second, -100.0F, 100.0F)});
    }
    for (auto id = sampling.allowedTokenIds.begin(); status && id != sampling.allowedTokenIds.end();
         ++id) {
        status = checkToken("allowed_token_ids", *id, vocabulary);
    }
    return status;
}

Status checkOutput(const OutputParams& output, std::int64_t vocabulary) {
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    Status status = firstFailure({
        checkRange("max_tokens", output.maxTokens.value_or(1), 1, kMost),
        checkRange("min_tokens", output.minTokens, 0, output.maxTokens.value_or(kMost)),
        checkRange("top_logprobs", output.topLogprobs, -1, kMostTopLogprobs),
        checkRange("prompt_logprobs", output.promptTopLogprobs, 0, kMostTopLogprobs),
    });
    if (status && output.stop.size() > kMostStops) {
        return failField("stop", "stop has " + std::to_string(output.stop.size()) +
                                     " strings; at most " + std::to_string(kMostStops) +
                                     " are allowed");
    }
    if (status && std::ranges::any_of(output.stop, &std::string::empty)) {
        return failField("stop", "stop has an empty string; it would stop before the first token");
    }
    for (auto id = output.stopTokenIds.begin(); status && id != output.stopTokenIds.end(); ++id) {
        status = checkToken("stop_token_ids", *id, vocabulary);
    }
    return status;
}

Status needsTokenizer(const LoadedModel& model, const char* what) {
    if (model.tokenizer) {
        return {};
    }
    return fail(ErrorCode::kUnsupported, "model " + model.name +
                                             " has no tokenizer, so it takes "
                                             "token ids and no " +
                                             what);
}

// What no template could write out is the messages' fault, not the template's.
Status checkTextBytes(const ChatPrompt& chat) {
    std::size_t bytes = 0;
    for (const ChatMessage& message : chat.messages) {
        for (const std::string& part : message.textParts) {
            bytes += part.size();
        }
    }
    if (bytes <= kMostChatBytes) {
        return {};
    }
    return failField("messages",
                     "the messages have " + byteText(static_cast<std::int64_t>(bytes)) +
                         " of text, and a chat can have no more than " +
                         byteText(static_cast<std::int64_t>(kMostChatBytes)),
                     ErrorCode::kContextLength);
}

Result<RenderedChat> renderChatPrompt(const LoadedModel& model, const ChatPrompt& chat) {
    if (Status status = checkTextBytes(chat); !status) {
        return forward(status);
    }
    const auto spelling = [&](std::optional<TokenId> id) {
        return id ? std::string(model.tokenizer->tokenBytes(*id)) : std::string();
    };
    const SpecialTokens& special = model.tokenizer->special();
    return renderPrompt(model.templates, chat, spelling(special.bos), spelling(special.eos));
}

std::uint64_t drawSeed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}

/// The control tokens among the marks of a format.
std::vector<TokenId> markTokens(const Tokenizer& tokenizer, const ReplyFormat& format,
                                bool hasTools) {
    std::vector<TokenId> tokens;
    for (const std::string& mark : marksOf(format, hasTools)) {
        const std::optional<TokenId> token = tokenizer.find(mark);
        if (token && tokenizer.isControl(*token)) {
            tokens.push_back(*token);
        }
    }
    return tokens;
}

Status tokenizePair(const LoadedModel& model, const PairPrompt& pair, PreparedRequest& prepared) {
    if (Status status = needsTokenizer(model, "pairs of texts"); !status) {
        return status;
    }
    auto ids = model.tokenizer->encodePair(pair.query, pair.document);
    if (!ids) {
        return forward(ids);
    }
    prepared.promptIds = std::move(ids->ids);
    prepared.secondFrom = ids->secondFrom;
    prepared.typesFrom = model.info.tokenTypes > 1 && ids->hasTypes ? ids->secondFrom : 0;
    return {};
}

/// Fills promptIds and promptText, and what a chat says of its reply.
Status tokenize(const LoadedModel& model, PreparedRequest& prepared) {
    Prompt& prompt = prepared.request.prompt;
    if (auto* ids = std::get_if<TokenPrompt>(&prompt)) {
        prepared.promptIds = *ids;
        return {};
    }
    if (auto* infill = std::get_if<InfillPrompt>(&prompt)) {
        if (Status status = needsTokenizer(model, "text"); !status) {
            return status;
        }
        auto ids = infillIds(*model.tokenizer, *infill);
        if (!ids) {
            return forward(ids);
        }
        prepared.promptIds = std::move(*ids);
        prepared.promptText = model.tokenizer->decode(prepared.promptIds, false);
        return {};
    }
    if (const auto* pair = std::get_if<PairPrompt>(&prompt)) {
        return tokenizePair(model, *pair, prepared);
    }
    EncodeOptions options = kPromptEncoding;
    options.addEnd = prepared.request.vector.has_value();  // a vector is of a whole text
    if (auto* text = std::get_if<TextPrompt>(&prompt)) {
        if (Status status = needsTokenizer(model, "text"); !status) {
            return status;
        }
        options.addSpecial = text->addSpecial;
        options.parseSpecial = text->parseSpecial;
        prepared.promptText = text->text;
    } else {
        if (Status status = needsTokenizer(model, "chat"); !status) {
            return status;
        }
        const auto& chat = std::get<ChatPrompt>(prompt);
        auto rendered = renderChatPrompt(model, chat);
        if (!rendered) {
            return forward(rendered);
        }
        prepared.promptText = std::move(rendered->text);
        prepared.replyFormat = std::move(rendered->replyFormat);
        prepared.markTokens =
            markTokens(*model.tokenizer, prepared.replyFormat, !chat.tools.empty());
    }
    auto ids = model.tokenizer->encode(prepared.promptText, options);
    if (!ids) {
        return forward(ids);
    }
    prepared.promptIds = std::move(*ids);
    return {};
}

/// Resolves maxTokens against the context. Nothing is cut: what does not fit is refused.
Status fitContext(const LoadedModel& model, PreparedRequest& prepared) {
    const auto context = model.options.contextTokens;
    const auto prompt = static_cast<std::int64_t>(prepared.promptIds.size());
    const auto& asked = prepared.request.output.maxTokens;
    const std::string limit = "the context of " + std::to_string(context) + " tokens";
    if (prompt == 0) {
        return failField("prompt", "the prompt is empty; at least one token is needed");
    }
    if (prompt >= context) {
        const bool isChat = std::holds_alternative<ChatPrompt>(prepared.request.prompt);
        return failField(isChat ? "messages" : "prompt",
                         "the prompt has " + std::to_string(prompt) +
                             " tokens and leaves no room for a reply in " + limit,
                         ErrorCode::kContextLength);
    }
    if (asked && prompt + *asked > context) {
        return failField("max_tokens",
                         "the prompt has " + std::to_string(prompt) + " tokens and max_tokens is " +
                             std::to_string(*asked) + ": together " +
                             std::to_string(prompt + *asked) + ", more than " + limit,
                         ErrorCode::kContextLength);
    }
    const std::int64_t room = context - prompt;
    prepared.endsAtContext = !asked;
    prepared.maxTokens = asked.value_or(static_cast<std::int32_t>(room));
    return checkRange("min_tokens", prepared.request.output.minTokens, 0, prepared.maxTokens);
}

}  // namespace

Result<std::int64_t> countPromptTokens(const LoadedModel& model, const ChatPrompt& prompt) {
    if (Status status = needsTokenizer(model, "chat"); !status) {
        return forward(status);
    }
    auto rendered = renderChatPrompt(model, prompt);
    if (!rendered) {
        return forward(rendered);
    }
    auto ids = model.tokenizer->encode(rendered->text, kPromptEncoding);
    if (!ids) {
        return forward(ids);
    }
    return static_cast<std::int64_t>(ids->size());
}

Status checkPrepared(const LoadedModel& model, std::int64_t vocabulary,
                     const PreparedRequest& prepared) {
    const auto prompt = static_cast<std::int64_t>(prepared.promptIds.size());
    for (const TokenId token : prepared.promptIds) {
        if (Status status = checkToken("prompt", token, vocabulary); !status) {
            return status;
        }
    }
    if (Status status = checkTask(model, prepared.request); !status) {
        return status;
    }
    if (prompt == 0 || prepared.maxTokens < (prepared.request.vector ? 0 : 1) ||
        prompt + prepared.maxTokens > model.options.contextTokens) {
        return fail(ErrorCode::kContextLength,
                    "a prompt of " + std::to_string(prompt) + " tokens and a reply of " +
                        std::to_string(prepared.maxTokens) + " do not fit the context of " +
                        std::to_string(model.options.contextTokens) + " tokens");
    }
    return checkRange("n", prepared.request.choices, 1, kMostChoices);
}

Result<PreparedRequest> prepareRequest(const LoadedModel& model, Request request) {
    const std::int64_t vocabulary = model.info.vocabSize;
    request.model = model.name;
    Status status =
        firstFailure({checkTask(model, request), checkSampling(request.sampling, vocabulary),
                      checkOutput(request.output, vocabulary),
                      checkRange("n", request.choices, 1, kMostChoices)});
    if (!status) {
        return forward(status);
    }
    request.sampling.topK = std::max(0, request.sampling.topK);
    PreparedRequest prepared;
    prepared.request = std::move(request);
    prepared.seed = prepared.request.sampling.seed.value_or(0);
    if (!prepared.request.sampling.seed) {
        prepared.seed = drawSeed();
    }
    if (status = tokenize(model, prepared); !status) {
        return forward(status);
    }
    status =
        prepared.request.vector ? fitVectorPrompt(model, prepared) : fitContext(model, prepared);
    if (!status) {
        return forward(status);
    }
    if (status = checkPrepared(model, vocabulary, prepared); !status) {
        return forward(status);
    }
    return prepared;
}

}  // namespace quern::engine
