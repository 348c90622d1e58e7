#include "app/server/openai/api_error.h"

#include <nlohmann/json.hpp>

namespace quern::app {

using Json = nlohmann::ordered_json;

std::string errorBody(const ApiError& error) {
    const auto orNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    const Json json{{"error",
                     {{"message", error.message},
                      {"type", error.type},
                      {"param", orNull(error.param)},
                      {"code", orNull(error.code)}}}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

HttpResponse errorResponse(const ApiError& error) {
    HttpResponse response{.status = error.status,
                          .contentType = "application/json",
                          .body = errorBody(error),
                          .headers = {}};
    if (error.status == 429 || error.status == 503) {
        response.headers.emplace_back("Retry-After", "1");
    }
    if (error.status == 401) {
        response.headers.emplace_back("WWW-Authenticate", "Bearer");
    }
    return response;
}

ApiError fromStatus(int status, const std::string& message) {
    ApiError error{.status = status, .message = message};
    switch (status) {
        case 401:
            error.code = "invalid_api_key";
            break;
        case 404:
            error.code = "not_found";
            break;
        case 429:
            error.type = "rate_limit_error";
            error.code = "rate_limit_exceeded";
            break;
        case 500:
        case 503:
        case 504:
            error.type = "server_error";
            break;
        default:
            break;
    }
    return error;
}

ApiError serverEnding() {
    return fromStatus(503, "the server is ending");
}

ApiError fromEngine(const Error& error) {
    ApiError api;
    switch (error.code) {
        case ErrorCode::kInvalidArgument:
        case ErrorCode::kUnsupported:
            api = fromStatus(400, error.message);
            break;
        case ErrorCode::kContextLength:
            api = fromStatus(400, error.message);
            api.code = "context_length_exceeded";
            break;
        case ErrorCode::kNotFound:
            api = fromStatus(404, error.message);
            api.code = "model_not_found";
            break;
        case ErrorCode::kBusy:
            api = fromStatus(429, error.message);
            break;
        case ErrorCode::kUnavailable:
        case ErrorCode::kCancelled:
        case ErrorCode::kOutOfMemory:
            api = fromStatus(503, error.message);
            break;
        case ErrorCode::kCorrupt:
            api = fromStatus(500, error.message);
            break;
        case ErrorCode::kIo:
        case ErrorCode::kConflict:
        case ErrorCode::kInternal:
            api = fromStatus(500, "the server failed; its log says more");
            break;
    }
    api.param = error.field;
    return api;
}

}  // namespace quern::app
