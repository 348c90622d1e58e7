#include "app/server/openai/model_routes.h"

#include <algorithm>
#include <charconv>

#include "app/server/openai/chat_fields.h"
#include "app/server/openai/fields.h"
#include "app/server/openai/json_body.h"
#include "app/server/openai/reply_json.h"
#include "kernels/quant.h"

namespace quern::app {

namespace {

HttpResponse answer(const Json& json) {
    return {
        .status = 200, .contentType = "application/json", .body = jsonText(json), .headers = {}};
}

// A name as it stands in a path: "my%20model".
std::string percentDecoded(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const char* digits = text.data() + i + 1;
        const bool isEscape = text[i] == '%' && i + 2 < text.size() &&
                              std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
        decoded += isEscape ? static_cast<char>(value) : text[i];
        i += isEscape ? 2 : 0;
    }
    return decoded;
}

Json modelJson(const engine::LoadedModel& model) {
    return {{"id", model.name},
            {"object", "model"},
            {"created", 0},
            {"owned_by", "quern"},
            {"root", model.name},
            {"parent", nullptr},
            {"max_model_len", model.options.contextTokens},
            {"size", model.info.fileBytes},
            {"parameters", model.info.parameters},
            {"architecture", model.info.architecture},
            {"quantization", model.info.quantization},
            {"task", engine::taskName(model.info.task)},
            {"state", "loaded"}};
}

int percentOf(const engine::LoadingModel& model) {
    return model.progress ? static_cast<int>(model.progress->fraction * 100) : 0;
}

std::string stageOf(const engine::LoadingModel& model) {
    return model.progress ? std::string(stageName(model.progress->stage)) : "waiting";
}

// What is known before its headers are read: no sizes yet.
Json loadingJson(const engine::LoadingModel& model) {
    return {{"id", model.name},           {"object", "model"},  {"created", 0},
            {"owned_by", "quern"},        {"root", model.name}, {"parent", nullptr},
            {"max_model_len", nullptr},   {"state", "loading"}, {"stage", stageOf(model)},
            {"percent", percentOf(model)}};
}

// An adapter is a model of its own name, with what its base has.
Json adapterJson(const engine::LoadedAdapter& adapter, const engine::LoadedModel& base) {
    Json json = modelJson(base);
    json["id"] = adapter.name;
    json["root"] = adapter.name;
    json["parent"] = base.name;
    json["size"] = adapter.info.bytes;
    return json;
}

using Answer = tl::expected<Json, ApiError>;
using ModelQuestion = std::function<Answer(Fields& fields, const engine::LoadedModel& model)>;

// Reads the body, finds the model that it names and asks it.
HttpResponse askModel(const engine::Engine& engine, const std::string& body,
                      const ModelQuestion& question) {
    const auto refuse = [](const std::string& message) {
        return errorResponse({.status = 400, .message = message});
    };
    const auto json = parseBody(body);
    if (!json) {
        return errorResponse(json.error());
    }
    Fields fields(*json);
    const auto model = engine.find(fields.text("model").value_or(""));
    if (!model) {
        return errorResponse(fromEngine(model.error()));
    }
    if ((*model)->tokenizer == nullptr) {
        return refuse("the model '" + (*model)->name + "' has no tokenizer");
    }
    const Answer reply = question(fields, **model);
    return reply ? answer(*reply) : errorResponse(reply.error());
}

// A chat as the engine would prepare it: template, tokens and checks.
tl::expected<engine::PreparedRequest, ApiError> prepareChat(const engine::Engine& engine,
                                                            Fields& fields,
                                                            const std::string& model) {
    engine::Request request;
    request.model = model;
    request.prompt = readChatPrompt(fields);
    if (fields.error()) {
        return tl::unexpected(*fields.error());
    }
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

HttpResponse describeHealth(const engine::Engine& engine) {
    const auto coming = engine.loading();
    if (coming.empty()) {
        return engine.models().empty() ? errorResponse(fromStatus(503, "no model is loaded"))
                                       : answer({{"status", "ok"}});
    }
    const auto begun = std::ranges::find_if(
        coming, [](const engine::LoadingModel& model) { return model.progress.has_value(); });
    const engine::LoadingModel& shown = begun == coming.end() ? coming.front() : *begun;
    const std::size_t others = coming.size() - 1;
    const ApiError error = fromStatus(
        503, "a model is loading: " + stageOf(shown) + ", " + std::to_string(percentOf(shown)) +
                 " %" + (others > 0 ? "; " + std::to_string(others) + " more to come" : ""));
    Json body = Json::parse(errorBody(error));
    body["status"] = "loading";
    body["stage"] = stageOf(shown);
    body["percent"] = percentOf(shown);
    body["more"] = others;
    HttpResponse response = errorResponse(error);
    response.body = jsonText(body);
    return response;
}

HttpResponse listModels(const engine::Engine& engine) {
    const auto coming = engine.loading();  // first: what is loaded meanwhile must not be missed
    Json list{{"object", "list"}, {"data", Json::array()}};
    for (const auto& model : engine.models()) {
        list["data"].push_back(modelJson(*model));
    }
    for (const auto& adapter : engine.adapters()) {
        if (const auto base = engine.find(adapter->model)) {
            list["data"].push_back(adapterJson(*adapter, **base));
        }
    }
    for (const engine::LoadingModel& model : coming) {
        const bool isListed = std::ranges::any_of(
            list["data"], [&](const Json& listed) { return listed["id"] == model.name; });
        if (!isListed) {
            list["data"].push_back(loadingJson(model));
        }
    }
    return answer(list);
}

HttpResponse describeModel(const engine::Engine& engine, const std::string& segment) {
    const std::string name = percentDecoded(segment);
    const auto coming = engine.loading();  // first, as for the list
    auto model = engine.find(name);
    for (const auto& adapter : engine.adapters()) {
        if (model && adapter->name == name) {
            return answer(adapterJson(*adapter, **model));
        }
    }
    const auto loading = std::ranges::find(coming, name, &engine::LoadingModel::name);
    if (!model && loading != coming.end()) {
        return answer(loadingJson(*loading));
    }
    return model ? answer(modelJson(**model)) : errorResponse(fromEngine(model.error()));
}

HttpResponse tokenize(const engine::Engine& engine, const std::string& body) {
    return askModel(engine, body, [&](Fields& fields, const engine::LoadedModel& model) -> Answer {
        if (fields.any("messages") != nullptr) {
            auto prepared = prepareChat(engine, fields, model.name);
            if (!prepared) {
                return tl::unexpected(prepared.error());
            }
            return tokensJson(model, prepared->promptIds);
        }
        const auto prompt = fields.text("prompt");
        const bool addsSpecial = fields.flag("add_special_tokens").value_or(true);
        if (!prompt) {
            fields.fail("prompt", "'prompt' is missing: give a string, or messages");
        }
        if (fields.error()) {
            return tl::unexpected(*fields.error());
        }
        const auto ids =
            model.tokenizer->encode(*prompt, {.addSpecial = addsSpecial, .parseSpecial = true});
        if (!ids) {
            return tl::unexpected(fromEngine(ids.error()));
        }
        return tokensJson(model, *ids);
    });
}

HttpResponse detokenize(const engine::Engine& engine, const std::string& body) {
    return askModel(engine, body, [](Fields& fields, const engine::LoadedModel& model) -> Answer {
        const std::int32_t vocabulary = model.tokenizer->vocabSize();
        if (fields.any("tokens") == nullptr) {
            fields.fail("tokens", "'tokens' is missing");
        }
        const std::vector<engine::TokenId> ids = fields.integers("tokens", 1 << 20);
        for (const engine::TokenId id : ids) {
            if (id < 0 || id >= vocabulary) {
                fields.fail("tokens", "'tokens' has " + std::to_string(id) +
                                          ", and the vocabulary " + std::to_string(vocabulary) +
                                          " tokens");
                break;
            }
        }
        if (fields.error()) {
            return tl::unexpected(*fields.error());
        }
        return Json{{"prompt", model.tokenizer->decode(ids, false)}};
    });
}

HttpResponse applyTemplate(const engine::Engine& engine, const std::string& body) {
    return askModel(engine, body, [&](Fields& fields, const engine::LoadedModel& model) -> Answer {
        const auto prepared = prepareChat(engine, fields, model.name);
        if (!prepared) {
            return tl::unexpected(prepared.error());
        }
        return Json{{"prompt", prepared->promptText}};
    });
}

}  // namespace quern::app
