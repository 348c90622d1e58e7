#include "app/server/openai/generation_request.h"

#include <limits>

#include "app/server/openai/chat_fields.h"
#include "app/server/openai/fields.h"
#include "app/server/openai/json_body.h"

namespace quern::app {

namespace {

constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kMostChoices = 128;
constexpr std::size_t kMostPrompts = 256;
constexpr std::size_t kMostStops = 16;
constexpr std::size_t kMostBreakers = 1024;
constexpr double kMostOfAnything = std::numeric_limits<double>::max();
constexpr std::int32_t kCompletionTokens = 16;  // OpenAI's default for completions

void readSampling(Fields& fields, engine::SamplingParams& sampling) {
    const auto set = [](float& target, std::optional<double> value) {
        if (value) {
            target = static_cast<float>(*value);
        }
    };
    set(sampling.temperature, fields.number("temperature", 0.0, 2.0));
    set(sampling.topP, fields.number("top_p", 0.0, 1.0));
    set(sampling.minP, fields.number("min_p", 0.0, 1.0));
    set(sampling.typicalP, fields.number("typical_p", 0.0, 1.0));
    set(sampling.repetitionPenalty, fields.number("repetition_penalty", 0.01, 10.0));
    set(sampling.frequencyPenalty, fields.number("frequency_penalty", -2.0, 2.0));
    set(sampling.presencePenalty, fields.number("presence_penalty", -2.0, 2.0));
    if (const auto topK = fields.integer("top_k", -1, kMostTokens)) {
        sampling.topK = static_cast<std::int32_t>(std::max<std::int64_t>(*topK, 0));
    }
    if (const auto last = fields.integer("repeat_last_n", -1, kMostTokens)) {
        sampling.repeatLastN = static_cast<std::int32_t>(*last);
    }
    if (const auto seed = fields.integer("seed", std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::max())) {
        sampling.seed = static_cast<std::uint64_t>(*seed);
    }
    sampling.allowedTokenIds = fields.integers("allowed_token_ids", 1 << 20);
    if (const Json* bias = fields.any("logit_bias")) {
        if (!bias->is_object()) {
            fields.fail("logit_bias", "'logit_bias' must be an object of token ids and numbers");
            return;
        }
        for (const auto& [key, value] : bias->items()) {
            const bool isId = !key.empty() && key.size() < 10 &&
                              key.find_first_not_of("0123456789") == std::string::npos;
            if (!isId || !value.is_number() || std::abs(value.get<double>()) > 100.0) {
                fields.fail("logit_bias", "'logit_bias': \"" + key + "\": " + value.dump() +
                                              " is not a token id with a number from -100 to 100");
                return;
            }
            sampling.logitBias[std::stoi(key)] = value.get<float>();
        }
    }
}

void readOutput(Fields& fields, engine::OutputParams& output) {
    if (const auto least = fields.integer("min_tokens", 0, kMostTokens)) {
        output.minTokens = static_cast<std::int32_t>(*least);
    }
    output.stop = fields.texts("stop", kMostStops);
    for (const std::string& stop : output.stop) {
        if (stop.empty()) {
            fields.fail("stop", "'stop' has an empty string");
        }
    }
    output.stopTokenIds = fields.integers("stop_token_ids", 256);
    output.ignoreEos = fields.flag("ignore_eos").value_or(false);
    output.includeStopText = fields.flag("include_stop_str_in_output").value_or(false);
    output.skipSpecialTokens = fields.flag("skip_special_tokens").value_or(true);
}

void readStream(Fields& fields, GenerationRequest& request) {
    request.isStream = fields.flag("stream").value_or(false);
    const Json* options = fields.object("stream_options");
    if (options == nullptr) {
        return;
    }
    if (!request.isStream) {
        fields.fail("stream_options", "'stream_options' is only allowed with stream true");
        return;
    }
    Fields inner(*options);
    request.includesUsage = inner.flag("include_usage").value_or(false);
    request.continuousUsage = inner.flag("continuous_usage_stats").value_or(false);
    if (inner.error()) {
        fields.fail("stream_options", inner.error()->message);
    }
}

// Parameters of llama.cpp and vLLM that are not there yet. Refused, so that nobody takes an answer
// for what it is not.
void refuseWhatIsNotThere(Fields& fields) {
    static constexpr const char* kLater = "this server does not have it yet";
    for (const char* name :
         {"top_n_sigma", "xtc_probability", "dry_multiplier", "mirostat", "dynatemp_range"}) {
        fields.refuse(name, 0, kLater);
    }
    // Without the switches above these change nothing.
    for (const char* name :
         {"xtc_threshold", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "mirostat_tau",
          "mirostat_eta", "dynatemp_exponent"}) {
        (void)fields.number(name, -kMostOfAnything, kMostOfAnything);
    }
    (void)fields.texts("dry_sequence_breakers", kMostBreakers);
    fields.refuse("bad_words", Json::array(), kLater);
    // Constraints, in the names of several servers: an answer without them would be taken for one
    // that keeps them.
    for (const char* name : {"structured_outputs", "guided_json", "guided_regex", "guided_choice",
                             "guided_grammar", "grammar", "json_schema"}) {
        fields.refuse(name, Json(), kLater);
    }
    fields.refuse("truncate_prompt_tokens", Json(), kLater);
    fields.refuse("response_format", Json{{"type", "text"}}, kLater);
    fields.refuse("store", false, "nothing is stored");
}

void readCommon(Fields& fields, const DefaultsOf& defaultsOf, GenerationRequest& request,
                engine::Request& base) {
    request.model = fields.text("model").value_or("");
    base.model = request.model;
    base.sampling = defaultsOf(request.model);
    readSampling(fields, base.sampling);
    readOutput(fields, base.output);
    readStream(fields, request);
    refuseWhatIsNotThere(fields);
    request.choices = static_cast<std::int32_t>(fields.integer("n", 1, kMostChoices).value_or(1));
    base.choices = request.choices;
    base.priority =
        static_cast<std::int32_t>(fields.integer("priority", -1000000, 1000000).value_or(0));
    base.cacheSalt = fields.text("cache_salt").value_or("");
    request.requestId = fields.text("request_id").value_or("");
    if (const auto prompt = fields.integer("prompt_logprobs", 0, 20)) {
        request.promptLogprobs = true;
        base.output.promptLogprobs = true;
        base.output.promptTopLogprobs = static_cast<std::int32_t>(*prompt);
    }
    if (base.sampling.temperature == 0.0F && request.choices > 1) {
        fields.fail("n", "'n' is " + std::to_string(request.choices) +
                             " and temperature is 0: all choices would be the same");
    }
    // What is for others to keep or to choose by.
    for (const char* name : {"user", "service_tier", "safety_identifier", "prompt_cache_key"}) {
        (void)fields.text(name);
    }
    (void)fields.object("metadata");
}

void readChat(Fields& fields, GenerationRequest& request, engine::Request base) {
    const auto most = fields.integer("max_completion_tokens", 1, kMostTokens);
    const auto older = fields.integer("max_tokens", 1, kMostTokens);
    if (most || older) {
        base.output.maxTokens = static_cast<std::int32_t>(most ? *most : *older);
    }
    if (fields.flag("logprobs").value_or(false)) {
        request.topLogprobs =
            static_cast<std::int32_t>(fields.integer("top_logprobs", 0, 20).value_or(0));
    } else if (fields.integer("top_logprobs", 0, 20).value_or(0) > 0) {
        fields.fail("top_logprobs", "'top_logprobs' needs logprobs true");
    }
    base.output.topLogprobs = request.topLogprobs;
    request.hasOneCallAtMost = !fields.flag("parallel_tool_calls").value_or(true);
    base.prompt = readChatPrompt(fields);
    request.prompts.push_back(std::move(base));
}

// One prompt: a text, or a list of token ids.
std::optional<engine::Prompt> readPrompt(const Json& value) {
    if (value.is_string()) {
        return engine::TextPrompt{.text = value.get<std::string>()};
    }
    engine::TokenPrompt ids;
    for (const Json& id : value) {
        if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
            id.get<std::int64_t>() > kMostTokens) {
            return std::nullopt;
        }
        ids.push_back(id.get<engine::TokenId>());
    }
    return ids;
}

void readPrompts(Fields& fields, GenerationRequest& request, const engine::Request& base,
                 const std::string& suffix) {
    const Json* value = fields.any("prompt");
    if (value == nullptr) {
        fields.fail("prompt", "'prompt' is missing");
        return;
    }
    static constexpr const char* kForms =
        "'prompt' must be a string, a list of strings, a list of token ids, or a list of such "
        "lists";
    std::vector<const Json*> prompts;
    if (value->is_string() || (value->is_array() && !value->empty() && (*value)[0].is_number())) {
        prompts.push_back(value);
    } else if (value->is_array() && !value->empty() && value->size() <= kMostPrompts) {
        for (const Json& entry : *value) {
            prompts.push_back(&entry);
        }
    } else {
        fields.fail("prompt", std::string(kForms) + "; at most " + std::to_string(kMostPrompts));
        return;
    }
    for (const Json* entry : prompts) {
        auto prompt = entry->is_string() || (entry->is_array() && !entry->empty())
                          ? readPrompt(*entry)
                          : std::nullopt;
        if (!prompt) {
            fields.fail("prompt", kForms);
            return;
        }
        if (!suffix.empty()) {
            auto* text = std::get_if<engine::TextPrompt>(&*prompt);
            if (text == nullptr) {
                fields.fail("suffix", "'suffix' needs prompts that are texts, not token ids");
                return;
            }
            prompt = engine::InfillPrompt{.prefix = std::move(text->text), .suffix = suffix};
        }
        engine::Request one = base;
        one.prompt = std::move(*prompt);
        request.prompts.push_back(std::move(one));
    }
}

void readCompletion(Fields& fields, GenerationRequest& request, engine::Request base) {
    const auto most = fields.integer("max_tokens", 0, kMostTokens).value_or(kCompletionTokens);
    request.echoes = fields.flag("echo").value_or(false);
    request.dropsOutput = most == 0;
    if (request.dropsOutput && !request.echoes) {
        fields.fail("max_tokens", "'max_tokens' is 0, which asks for nothing unless echo is true");
    }
    // The engine always draws a token; for 0 it is dropped again.
    base.output.maxTokens = static_cast<std::int32_t>(std::max<std::int64_t>(most, 1));
    if (const auto logprobs = fields.integer("logprobs", 0, 20)) {
        request.topLogprobs = static_cast<std::int32_t>(*logprobs);
        base.output.topLogprobs = request.topLogprobs;
        if (request.echoes) {
            base.output.promptLogprobs = true;
            base.output.promptTopLogprobs = request.topLogprobs;
        }
    }
    const std::string suffix = fields.text("suffix").value_or("");
    if (!suffix.empty() && request.echoes) {
        fields.fail("suffix", "'suffix' cannot be combined with echo: the prompt is not one text");
    }
    if (const auto best = fields.integer("best_of", 1, kMostChoices);
        best && *best != request.choices) {
        fields.fail("best_of", "'best_of' is " + std::to_string(*best) +
                                   " and must equal n, which is " +
                                   std::to_string(request.choices));
    }
    readPrompts(fields, request, base, suffix);
}

}  // namespace

tl::expected<GenerationRequest, ApiError> readGenerationRequest(GenerationKind kind,
                                                                const std::string& body,
                                                                const DefaultsOf& defaultsOf) {
    const auto json = parseBody(body);
    if (!json) {
        return tl::unexpected(json.error());
    }
    Fields fields(*json);
    GenerationRequest request;
    request.kind = kind;
    engine::Request base;
    base.clientId = "endpoint";
    readCommon(fields, defaultsOf, request, base);
    if (kind == GenerationKind::kChat) {
        readChat(fields, request, std::move(base));
    } else {
        readCompletion(fields, request, std::move(base));
    }
    if (fields.error()) {
        return tl::unexpected(*fields.error());
    }
    request.warnings = fields.unknown();
    return request;
}

}  // namespace quern::app
