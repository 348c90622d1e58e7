#pragma once

#include <exception>
#include <string>
#include <utility>

namespace quern::engine::jinja {

/// What a template's parser or evaluation throws, and the only exception in here. It unwinds
/// through the tree walker as Python's exceptions do in the reference, and is turned into an Error
/// where a template is created or rendered; it never leaves engine/text.
struct Failure : std::exception {
    /// `type` is the name of the reference's exception, such as "TypeError".
    Failure(std::string typeName, std::string text, int lineNumber = 0)
        : type(std::move(typeName)), message(std::move(text)), line(lineNumber) {}

    [[nodiscard]] const char* what() const noexcept override { return message.c_str(); }

    std::string type;
    std::string message;
    int line = 0;  // 1-based; 0: not known yet, the nearest statement fills it in
};

[[noreturn]] inline void raise(std::string type, std::string message) {
    throw Failure(std::move(type), std::move(message));
}
[[noreturn]] inline void raiseType(std::string message) {
    raise("TypeError", std::move(message));
}
[[noreturn]] inline void raiseValue(std::string message) {
    raise("ValueError", std::move(message));
}
[[noreturn]] inline void raiseSyntax(std::string message, int line) {
    throw Failure("TemplateSyntaxError", std::move(message), line);
}

}  // namespace quern::engine::jinja
