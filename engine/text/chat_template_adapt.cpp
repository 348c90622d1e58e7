#include <algorithm>
#include <cstdint>

#include "engine/text/chat_template_traits.h"

namespace quern::engine {
namespace {

using Json = nlohmann::ordered_json;

bool isTextPart(const Json& part) {
    return part.is_object() && part.value("type", "") == "text" && part.contains("text") &&
           part.at("text").is_string();
}

const TemplateTraits::Content& contentOf(const TemplateTraits& traits, const std::string& role) {
    if (role == "system" || role == "developer") {
        return traits.system;
    }
    if (role == "assistant") {
        return traits.assistant;
    }
    return role == "tool" ? traits.tool : traits.user;
}

std::string roleOf(const Json& message) {
    return message.is_object() && message.contains("role") && message.at("role").is_string()
               ? message.at("role").get<std::string>()
               : "";
}

/// Turns content into a form that the role's messages may have.
Status adaptContent(Json& content, const TemplateTraits::Content& forms, std::size_t index) {
    if (content.is_string() && !forms.text && forms.parts) {
        content = Json::array({Json{{"type", "text"}, {"text", content}}});
    } else if (content.is_array() && !forms.parts) {
        std::string joined;
        for (const Json& part : content) {
            if (!isTextPart(part)) {
                const std::string where = "messages[" + std::to_string(index) + "].content";
                return failField(where, where +
                                            " has a part that is no text; this model's chat "
                                            "template takes text only");
            }
            joined += part.at("text").get<std::string>();
        }
        content = std::move(joined);
    }
    return {};
}

/// Nine letters and digits that stand for an id, the same for the same id.
std::string shortId(const std::string& id) {
    const auto isAlphaNumeric = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    if (id.size() == 9 && std::all_of(id.begin(), id.end(), isAlphaNumeric)) {
        return id;
    }
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a: the same on every machine
    for (const char c : id) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
    std::string out;
    for (int i = 0; i < 9; ++i) {
        out += "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
        hash /= 36;
    }
    return out;
}

void adaptId(Json& holder, const char* key, const TemplateTraits& traits) {
    if (traits.needsShortIds && holder.contains(key) && holder.at(key).is_string()) {
        holder[key] = shortId(holder.at(key).get<std::string>());
    }
}

void adaptArguments(Json& function, const TemplateTraits& traits) {
    if (!function.is_object() || !function.contains("arguments")) {
        return;
    }
    Json& arguments = function["arguments"];
    if (arguments.is_string() && traits.takesArgumentObject) {
        Json parsed = Json::parse(arguments.get<std::string>(), nullptr, false);
        if (parsed.is_object()) {
            arguments = std::move(parsed);
        }
    } else if (!arguments.is_string() && !traits.takesArgumentObject && traits.takesArgumentText) {
        arguments = arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
}

void adaptCalls(Json& message, const TemplateTraits& traits) {
    adaptId(message, "tool_call_id", traits);
    if (!message.contains("tool_calls") || !message.at("tool_calls").is_array()) {
        return;
    }
    for (Json& call : message["tool_calls"]) {
        if (call.is_object()) {
            adaptId(call, "id", traits);
            if (call.contains("function")) {
                adaptArguments(call["function"], traits);
            }
        }
    }
    const bool lacksContent = !message.contains("content") || message.at("content").is_null();
    if (lacksContent && !traits.takesNullContent) {
        message["content"] = "";
    }
}

void adaptReasoning(Json& message, const TemplateTraits& traits) {
    for (const char* key : {"reasoning_content", "reasoning"}) {
        if (message.contains(key) && traits.reasoningKey != key &&
            !message.contains(traits.reasoningKey)) {
            Json text = std::move(message[key]);
            message.erase(key);
            message[traits.reasoningKey] = std::move(text);
        }
    }
}

std::string textOf(const Json& message) {
    if (!message.contains("content")) {
        return {};
    }
    const Json& content = message.at("content");
    if (content.is_string()) {
        return content.get<std::string>();
    }
    std::string joined;
    if (content.is_array()) {
        for (const Json& part : content) {
            joined += isTextPart(part) ? part.at("text").get<std::string>() : "";
        }
    }
    return joined;
}

void prepend(Json& message, const std::string& text) {
    Json& content = message["content"];
    if (content.is_array()) {
        content.insert(content.begin(), Json{{"type", "text"}, {"text", text + "\n\n"}});
    } else if (content.is_string()) {
        content = text + "\n\n" + content.get<std::string>();
    } else {
        content = text;
    }
}

/// For templates without a system role: the text joins the user message that follows, or becomes
/// one where none does.
Json mergeSystem(const Json& messages) {
    Json out = Json::array();
    std::string pending;
    for (const Json& message : messages) {
        const std::string role = roleOf(message);
        if (role == "system" || role == "developer") {
            const std::string text = textOf(message);
            pending += pending.empty() || text.empty() ? text : "\n\n" + text;
            continue;
        }
        out.push_back(message);
        if (role == "user" && !pending.empty()) {
            prepend(out.back(), pending);
            pending.clear();
        }
    }
    if (!pending.empty()) {
        out.push_back(Json{{"role", "user"}, {"content", pending}});
    }
    return out;
}

}  // namespace

Result<Json> adaptMessages(Json messages, const TemplateTraits& traits) {
    if (!messages.is_array()) {
        return messages;
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
        Json& message = messages[i];
        if (!message.is_object()) {
            continue;
        }
        if (message.contains("content")) {
            const Status done =
                adaptContent(message["content"], contentOf(traits, roleOf(message)), i);
            if (!done) {
                return tl::unexpected(done.error());
            }
        }
        adaptCalls(message, traits);
        adaptReasoning(message, traits);
        if (roleOf(message) == "developer" && !traits.knowsDeveloper) {
            message["role"] = "system";
        }
    }
    if (traits.knowsSystem) {
        return messages;
    }
    return mergeSystem(messages);
}

}  // namespace quern::engine
