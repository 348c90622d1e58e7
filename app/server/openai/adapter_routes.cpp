#include "app/server/openai/adapter_routes.h"

#include <limits>

#include "app/server/openai/fields.h"
#include "app/server/openai/json_body.h"

namespace quern::app {

namespace {

HttpResponse sentence(const std::string& text) {
    return {.status = 200, .contentType = "text/plain; charset=utf-8", .body = text, .headers = {}};
}

// What is wrong with a file is for the one who names it to know, and so is a name that is taken.
ApiError fromAdapterError(const Error& error) {
    ApiError api = fromEngine(error);
    switch (error.code) {
        case ErrorCode::kNotFound:
            api.code = "not_found";
            break;
        case ErrorCode::kCorrupt:
        case ErrorCode::kIo:
            api = fromStatus(400, error.message);
            break;
        case ErrorCode::kConflict:
            api = fromStatus(400, error.message);
            api.param = "lora_name";
            break;
        default:
            break;
    }
    return api;
}

std::string required(Fields& fields, const char* name) {
    const auto text = fields.text(name);
    if (!text || text->empty()) {
        fields.fail(name, "'" + std::string(name) + "' is missing: give a string");
    }
    return text.value_or("");
}

}  // namespace

HttpResponse loadLoraAdapter(engine::Engine& engine, const std::string& body) {
    const auto json = parseBody(body);
    if (!json) {
        return errorResponse(json.error());
    }
    Fields fields(*json);
    const engine::AdapterOptions options{.path = required(fields, "lora_path"),
                                         .name = required(fields, "lora_name"),
                                         .model = fields.text("base_model_name").value_or("")};
    fields.refuse("load_inplace", false, "unload the adapter first");
    if (fields.error()) {
        return errorResponse(*fields.error());
    }
    const auto adapter = engine.loadAdapter(options);
    return adapter ? sentence("the adapter '" + options.name + "' is loaded")
                   : errorResponse(fromAdapterError(adapter.error()));
}

HttpResponse unloadLoraAdapter(engine::Engine& engine, const std::string& body) {
    const auto json = parseBody(body);
    if (!json) {
        return errorResponse(json.error());
    }
    Fields fields(*json);
    const std::string name = required(fields, "lora_name");
    (void)fields.integer("lora_int_id", std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::int64_t>::max());
    if (fields.error()) {
        return errorResponse(*fields.error());
    }
    const auto status = engine.unloadAdapter(name);
    return status ? sentence("the adapter '" + name + "' is unloaded")
                  : errorResponse(fromAdapterError(status.error()));
}

}  // namespace quern::app
