#pragma once

#include <cstdint>
#include <string>

#include "app/server/http/http_message.h"
#include "kernels/result.h"

namespace quern::app {

/// An error as OpenAI's clients read it.
struct ApiError {
    int status = 400;
    std::string message;
    std::string type = "invalid_request_error";
    std::string param;  // empty: null
    std::string code;   // empty: null
};

/// {"error": {"message", "type", "param", "code"}}
[[nodiscard]] std::string errorBody(const ApiError& error);
/// The body with its status and the headers that go with it (Retry-After, WWW-Authenticate).
[[nodiscard]] HttpResponse errorResponse(const ApiError& error);
/// What is told to whoever asks for something, or still waits for it, while the server ends.
[[nodiscard]] ApiError serverEnding();
/// What an engine's error is to a client. Our own faults say nothing of the inside.
[[nodiscard]] ApiError fromEngine(const Error& error);
/// The type and code that go with a bare status.
[[nodiscard]] ApiError fromStatus(int status, const std::string& message);

}  // namespace quern::app
