#include "app/server/openai/chat_messages.h"

#include <utility>

namespace quern::app {

namespace {

// The string of that name; empty when there is none or it is something else.
std::string textOf(const Json& object, const char* name) {
    if (!object.is_object()) {
        return {};
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

ApiError errorAt(const std::string& where, const std::string& message) {
    return {.status = 400, .message = where + " " + message, .param = where};
}

// A string that may be absent or null.
std::optional<ApiError> readText(const Json& object, const char* name, const std::string& where,
                                 std::string& out) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) {
        return std::nullopt;
    }
    if (!found->is_string()) {
        return errorAt(where + "." + name, "must be a string");
    }
    out = found->get<std::string>();
    return std::nullopt;
}

std::optional<ApiError> readContent(const Json& content, const std::string& where,
                                    engine::ChatMessage& message) {
    if (content.is_null()) {
        return std::nullopt;
    }
    if (content.is_string()) {
        message.textParts.push_back(content.get<std::string>());
        return std::nullopt;
    }
    if (!content.is_array()) {
        return errorAt(where, "must be a string or a list of parts");
    }
    for (const Json& part : content) {
        const std::string type = textOf(part, "type");
        if (type == "text" || type == "input_text" || type == "output_text") {
            const auto text = part.find("text");
            if (text == part.end() || !text->is_string()) {
                return errorAt(where, "has a text part without a string 'text'");
            }
            message.textParts.push_back(text->get<std::string>());
        } else {
            return errorAt(where, "has a part of type '" + type +
                                      "'; this model takes parts of type 'text' only");
        }
    }
    return std::nullopt;
}

std::optional<ApiError> readToolCalls(const Json& calls, const std::string& where,
                                      engine::ChatMessage& message) {
    if (!calls.is_array()) {
        return errorAt(where, "must be a list");
    }
    for (const Json& call : calls) {
        const Json function =
            call.is_object() && call.contains("function") ? call["function"] : Json();
        engine::ToolCall read;
        read.name = textOf(function, "name");
        if (read.name.empty()) {
            return errorAt(where, "needs a function with a name in each call");
        }
        if (auto error = readText(call, "id", where, read.id)) {
            return error;
        }
        if (const auto arguments = function.find("arguments"); arguments != function.end()) {
            read.arguments =
                arguments->is_string() ? arguments->get<std::string>() : arguments->dump();
        }
        message.toolCalls.push_back(std::move(read));
    }
    return std::nullopt;
}

std::optional<ApiError> readMessage(const Json& json, const std::string& where,
                                    engine::ChatMessage& message) {
    if (!json.is_object()) {
        return errorAt(where, "must be an object");
    }
    message.role = textOf(json, "role");
    if (message.role.empty()) {
        return errorAt(where + ".role", "must be a string such as 'user'");
    }
    std::string olderReasoning;
    for (const auto& [name, text] :
         {std::pair("name", &message.name), std::pair("tool_call_id", &message.toolCallId),
          std::pair("reasoning_content", &message.reasoning),
          std::pair("reasoning", &olderReasoning)}) {
        if (auto error = readText(json, name, where, *text)) {
            return error;
        }
    }
    if (message.reasoning.empty()) {
        message.reasoning = std::move(olderReasoning);
    }
    if (const auto content = json.find("content"); content != json.end()) {
        if (auto error = readContent(*content, where + ".content", message)) {
            return error;
        }
    }
    if (const auto calls = json.find("tool_calls"); calls != json.end() && !calls->is_null()) {
        if (auto error = readToolCalls(*calls, where + ".tool_calls", message)) {
            return error;
        }
    }
    if (message.textParts.empty() && message.toolCalls.empty() && message.role != "assistant") {
        return errorAt(where + ".content", "is missing");
    }
    return std::nullopt;
}

}  // namespace

std::optional<ApiError> readChatMessages(const Json& messages,
                                         std::vector<engine::ChatMessage>& out) {
    if (!messages.is_array() || messages.empty()) {
        return ApiError{.status = 400,
                        .message = "'messages' must be a list of at least one message",
                        .param = "messages"};
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
        engine::ChatMessage message;
        const std::string where = "messages[" + std::to_string(i) + "]";
        if (auto error = readMessage(messages[i], where, message)) {
            return error;
        }
        out.push_back(std::move(message));
    }
    return std::nullopt;
}

}  // namespace quern::app
