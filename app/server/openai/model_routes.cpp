#include "app/server/openai/model_routes.h"

#include "app/server/openai/chat_messages.h"
#include "app/server/openai/fields.h"
#include "app/server/openai/reply_json.h"
#include "kernels/quant.h"

namespace quern::app {

namespace {

HttpResponse answer(const Json& json) {
    return {
        .status = 200, .contentType = "application/json", .body = jsonText(json), .headers = {}};
}

Json modelJson(const engine::LoadedModel& model) {
    return {{"id", model.name},
            {"object", "model"},
            {"created", 0},
            {"owned_by", "quern"},
            {"max_model_len", model.options.contextTokens},
            {"size", model.info.fileBytes},
            {"parameters", model.info.parameters},
            {"architecture", model.info.architecture},
            {"quantization", model.info.quantization},
            {"state", "loaded"}};
}

tl::expected<Json, ApiError> parseObject(const std::string& body) {
    Json json = Json::parse(body, nullptr, false);
    if (!json.is_object()) {
        return tl::unexpected(ApiError{.status = 400, .message = "the body must be a JSON object"});
    }
    return json;
}

tl::expected<std::shared_ptr<const engine::LoadedModel>, ApiError> findModel(
    const engine::Engine& engine, Fields& fields) {
    const std::string name = fields.text("model").value_or("");
    auto model = engine.find(name);
    if (!model) {
        return tl::unexpected(fromEngine(model.error()));
    }
    if ((*model)->tokenizer == nullptr) {
        return tl::unexpected(ApiError{
            .status = 400, .message = "the model '" + (*model)->name + "' has no tokenizer"});
    }
    return *model;
}

// A chat as the engine would prepare it: template, tokens and checks.
tl::expected<engine::PreparedRequest, ApiError> prepareChat(const engine::Engine& engine,
                                                            Fields& fields, const Json& messages,
                                                            const std::string& model) {
    engine::ChatPrompt prompt;
    if (auto error = readChatMessages(messages, prompt.messages)) {
        return tl::unexpected(*error);
    }
    prompt.addGenerationPrompt = fields.flag("add_generation_prompt").value_or(true);
    prompt.continueFinalMessage = fields.flag("continue_final_message").value_or(false);
    if (prompt.continueFinalMessage) {
        prompt.addGenerationPrompt = false;
    }
    if (const Json* kwargs = fields.any("chat_template_kwargs")) {
        prompt.templateKwargs = jsonText(*kwargs);
    }
    if (fields.error()) {
        return tl::unexpected(*fields.error());
    }
    engine::Request request;
    request.model = model;
    request.prompt = std::move(prompt);
    auto prepared = engine.prepare(std::move(request));
    if (!prepared) {
        return tl::unexpected(fromEngine(prepared.error()));
    }
    return std::move(*prepared);
}

Json tokensJson(const engine::LoadedModel& model, const std::vector<engine::TokenId>& ids) {
    Json pieces = Json::array();
    for (const engine::TokenId id : ids) {
        pieces.push_back(std::string(model.tokenizer->tokenBytes(id)));
    }
    return {{"count", ids.size()},
            {"max_model_len", model.options.contextTokens},
            {"tokens", ids},
            {"token_strs", std::move(pieces)}};
}

}  // namespace

HttpResponse listModels(const engine::Engine& engine) {
    Json list{{"object", "list"}, {"data", Json::array()}};
    for (const auto& model : engine.models()) {
        list["data"].push_back(modelJson(*model));
    }
    return answer(list);
}

HttpResponse describeModel(const engine::Engine& engine, const std::string& name) {
    auto model = engine.find(name);
    return model ? answer(modelJson(**model)) : errorResponse(fromEngine(model.error()));
}

HttpResponse tokenize(const engine::Engine& engine, const std::string& body) {
    auto json = parseObject(body);
    if (!json) {
        return errorResponse(json.error());
    }
    Fields fields(*json);
    auto model = findModel(engine, fields);
    if (!model) {
        return errorResponse(model.error());
    }
    if (const Json* messages = fields.any("messages")) {
        auto prepared = prepareChat(engine, fields, *messages, (*model)->name);
        return prepared ? answer(tokensJson(**model, prepared->promptIds))
                        : errorResponse(prepared.error());
    }
    const auto prompt = fields.text("prompt");
    const bool addsSpecial = fields.flag("add_special_tokens").value_or(true);
    if (!prompt) {
        fields.fail("prompt", "'prompt' is missing: give a string, or messages");
    }
    if (fields.error()) {
        return errorResponse(*fields.error());
    }
    auto ids =
        (*model)->tokenizer->encode(*prompt, {.addSpecial = addsSpecial, .parseSpecial = true});
    return ids ? answer(tokensJson(**model, *ids)) : errorResponse(fromEngine(ids.error()));
}

HttpResponse detokenize(const engine::Engine& engine, const std::string& body) {
    auto json = parseObject(body);
    if (!json) {
        return errorResponse(json.error());
    }
    Fields fields(*json);
    auto model = findModel(engine, fields);
    if (!model) {
        return errorResponse(model.error());
    }
    std::vector<engine::TokenId> ids;
    for (const std::int64_t id : fields.integers("tokens", 1 << 20)) {
        if (id < 0 || id >= (*model)->tokenizer->vocabSize()) {
            fields.fail("tokens", "'tokens' has " + std::to_string(id) + ", and the vocabulary " +
                                      std::to_string((*model)->tokenizer->vocabSize()) + " tokens");
            break;
        }
        ids.push_back(static_cast<engine::TokenId>(id));
    }
    if (fields.error()) {
        return errorResponse(*fields.error());
    }
    return answer({{"prompt", (*model)->tokenizer->decode(ids, false)}});
}

HttpResponse applyTemplate(const engine::Engine& engine, const std::string& body) {
    auto json = parseObject(body);
    if (!json) {
        return errorResponse(json.error());
    }
    Fields fields(*json);
    auto model = findModel(engine, fields);
    if (!model) {
        return errorResponse(model.error());
    }
    const Json* messages = fields.any("messages");
    auto prepared =
        prepareChat(engine, fields, messages == nullptr ? Json() : *messages, (*model)->name);
    return prepared ? answer({{"prompt", prepared->promptText}}) : errorResponse(prepared.error());
}

}  // namespace quern::app
