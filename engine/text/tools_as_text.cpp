#include "engine/text/tools_as_text.h"

#include <utility>

namespace quern::engine {
namespace {

using Json = nlohmann::ordered_json;

const Json& functionOf(const Json& tool) {
    return tool.contains("function") ? tool["function"] : tool;
}

std::string introduction(const Json& tools) {
    std::string text = "You may use tools. Each is described by a JSON schema:\n<tools>\n";
    for (const Json& tool : tools) {
        text += functionOf(tool).dump() + "\n";
    }
    return text +
           "</tools>\nTo use one, write this and nothing after it; the result will be given to "
           "you:\n<tool_call>\n{\"name\": \"NAME\", \"arguments\": {\"PARAMETER\": VALUE}}\n"
           "</tool_call>";
}

/// Puts text behind what a message says already.
void addText(Json& message, const std::string& text) {
    Json& content = message["content"];
    if (content.is_array()) {
        content.push_back(Json{{"type", "text"}, {"text", text}});
    } else if (content.is_string() && !content.get_ref<const std::string&>().empty()) {
        content = content.get<std::string>() + "\n\n" + text;
    } else {
        content = text;
    }
}

std::string callText(const Json& call) {
    const Json& function = call["function"];
    const Json arguments =
        Json::parse(function["arguments"].get_ref<const std::string&>(), nullptr, false);
    const Json written = {
        {"name", function["name"]},
        {"arguments", arguments.is_discarded() ? function["arguments"] : arguments}};
    return "<tool_call>\n" + written.dump() + "\n</tool_call>";
}

/// A result, in a message of the user. Results of one turn share a message: many templates want
/// user and assistant to take turns.
void addResult(Json& out, const Json& message) {
    const Json& content = message["content"];
    std::string text = content.is_string() ? content.get<std::string>() : "";
    for (std::size_t i = 0; content.is_array() && i < content.size(); ++i) {
        text += content[i]["text"].get<std::string>();
    }
    text = "<tool_response>\n" + text + "\n</tool_response>";
    if (!out.empty() && out.back().contains("isResult")) {
        addText(out.back(), text);
        return;
    }
    out.push_back(Json{{"role", "user"}, {"content", text}, {"isResult", true}});
}

}  // namespace

Json withToolsAsText(Json messages, const std::string& tools) {
    Json out = Json::array();
    for (Json& message : messages) {
        if (message["role"] == "tool") {
            addResult(out, message);
            continue;
        }
        const Json calls = message.value("tool_calls", Json::array());
        message.erase("tool_calls");
        for (const Json& call : calls) {
            addText(message, callText(call));
        }
        out.push_back(std::move(message));
    }
    for (Json& message : out) {
        message.erase("isResult");
    }
    const bool hasSystem =
        !out.empty() && (out[0]["role"] == "system" || out[0]["role"] == "developer");
    if (!hasSystem) {
        out.insert(out.begin(), Json{{"role", "system"}, {"content", ""}});
    }
    addText(out[0], introduction(Json::parse(tools)));
    return out;
}

}  // namespace quern::engine
