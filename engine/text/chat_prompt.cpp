#include "engine/text/chat_prompt.h"

#include <nlohmann/json.hpp>

#include "engine/text/jinja/unicode.h"
#include "engine/text/tools_as_text.h"

namespace quern::engine {
namespace {

using Json = nlohmann::ordered_json;

// Put behind the text of a message that is to be continued, to find it again. The blank at its end
// tells whether the template trims.
constexpr std::string_view kMark = "QUERN_CONTINUES_HERE ";
// Finding the message that is refused renders once for each: enough for any chat a person wrote.
constexpr std::size_t kMaxPrefixes = 200;

Json contentOf(const ChatMessage& message) {
    if (message.textParts.size() == 1) {
        return message.textParts.front();
    }
    if (message.textParts.empty()) {
        return message.toolCalls.empty() ? Json("") : Json(nullptr);
    }
    Json parts = Json::array();
    for (const std::string& text : message.textParts) {
        parts.push_back(Json{{"type", "text"}, {"text", text}});
    }
    return parts;
}

Json toJson(const ChatMessage& message) {
    Json out = {{"role", message.role}, {"content", contentOf(message)}};
    if (!message.name.empty()) {
        out["name"] = message.name;
    }
    if (!message.reasoning.empty()) {
        out["reasoning_content"] = message.reasoning;
    }
    if (!message.toolCallId.empty()) {
        out["tool_call_id"] = message.toolCallId;
    }
    if (!message.toolCalls.empty()) {
        Json calls = Json::array();
        for (const ToolCall& call : message.toolCalls) {
            calls.push_back(
                Json{{"id", call.id},
                     {"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
        }
        out["tool_calls"] = std::move(calls);
    }
    return out;
}

/// The first message with bytes that are no UTF-8; JSON cannot hold them.
Status checkUtf8(const std::vector<ChatMessage>& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const ChatMessage& message = messages[i];
        std::string all = message.role + message.reasoning + message.name + message.toolCallId;
        bool isValid = !jinja::findInvalidUtf8(all);
        for (const std::string& text : message.textParts) {
            isValid = isValid && !jinja::findInvalidUtf8(text);
        }
        for (const ToolCall& call : message.toolCalls) {
            isValid = isValid && !jinja::findInvalidUtf8(call.id + call.name) &&
                      !jinja::findInvalidUtf8(call.arguments);
        }
        if (!isValid) {
            const std::string field = "messages[" + std::to_string(i) + "]";
            return failField(field, field + " is not valid UTF-8");
        }
    }
    return {};
}

Result<std::string> toolsJson(const std::vector<std::string>& tools) {
    if (tools.empty()) {
        return std::string();
    }
    Json all = Json::array();
    for (std::size_t i = 0; i < tools.size(); ++i) {
        Json tool = Json::parse(tools[i], nullptr, false);
        if (!tool.is_object()) {
            const std::string field = "tools[" + std::to_string(i) + "]";
            return failField(field, field + " is not a JSON object");
        }
        all.push_back(std::move(tool));
    }
    return all.dump();
}

/// Gives tools the members that the API lets a caller leave out, and some templates do not.
/// False when none was missing.
bool completeTools(std::string& tools) {
    Json all = Json::parse(tools, nullptr, false);
    bool isChanged = false;
    for (Json& tool : all) {
        Json* function = tool.is_object() && tool.contains("function") ? &tool["function"] : &tool;
        if (!function->is_object()) {
            continue;
        }
        if (!function->contains("description")) {
            (*function)["description"] = "";
            isChanged = true;
        }
        if (!function->contains("parameters")) {
            (*function)["parameters"] = {{"type", "object"}, {"properties", Json::object()}};
            isChanged = true;
        }
    }
    tools = all.dump();
    return isChanged;
}

Result<std::shared_ptr<const ChatTemplate>> choose(const ChatTemplates& templates,
                                                   const ChatPrompt& prompt) {
    if (!prompt.chatTemplate.empty()) {
        auto made = ChatTemplate::create(prompt.chatTemplate);
        if (!made) {
            made.error().field = "chat_template";
        }
        return made;
    }
    const bool wantsTools = !prompt.tools.empty() && templates.toolUse != nullptr;
    std::shared_ptr<const ChatTemplate> chosen =
        wantsTools || templates.standard == nullptr ? templates.toolUse : templates.standard;
    if (chosen == nullptr) {
        return fail(ErrorCode::kUnsupported,
                    "the model has no chat template; send text, or a chat_template of your own");
    }
    return chosen;
}

/// Marks the end of the last message's text.
Status markEnd(Json& messages) {
    Json& content = messages.back()["content"];
    if (content.is_string()) {
        content = content.get<std::string>() + std::string(kMark);
        return {};
    }
    if (content.is_array() && !content.empty()) {
        Json& text = content.back()["text"];
        text = text.get<std::string>() + std::string(kMark);
        return {};
    }
    return failField("continue_final_message",
                     "continue_final_message is set, and the final message has no text to go on "
                     "with");
}

Result<std::string> cutAtMark(std::string text) {
    const std::string_view bare = kMark.substr(0, kMark.size() - 1);
    const std::size_t at = text.rfind(bare);
    if (at == std::string::npos) {
        return failField("continue_final_message",
                         "continue_final_message is set, and the chat template does not show the "
                         "final message's text");
    }
    const bool isTrimmed = text.compare(at, kMark.size(), kMark) != 0;
    text.resize(at);
    if (isTrimmed) {
        text.resize(jinja::strip(text, jinja::Ends::kRight).size());
    }
    return text;
}

/// Finds the message with which the refusal begins, and names it.
void nameMessage(Error& error, const ChatTemplate& chosen, const Json& messages,
                 TemplateInput input) {
    for (std::size_t count = 1; count <= messages.size() && count <= kMaxPrefixes; ++count) {
        Json prefix = Json::array();
        prefix.insert(prefix.end(), messages.begin(),
                      messages.begin() + static_cast<std::ptrdiff_t>(count));
        input.messages = prefix.dump();
        const auto text = chosen.renderChat(input);
        if (!text && text.error().message == error.message) {
            error.field = "messages[" + std::to_string(count - 1) + "]";
            return;
        }
    }
}

/// Whether the template leaves the tools of `input` out, which it renders as `text`.
bool hasNoPlaceForTools(const ChatTemplate& chosen, TemplateInput input,
                        const Result<std::string>& text) {
    if (!text) {
        return chosen.source().find("tools") == std::string::npos;
    }
    input.tools.clear();
    const auto without = chosen.renderChat(input);
    return without && *without == *text;
}

}  // namespace

Result<RenderedChat> renderPrompt(const ChatTemplates& templates, const ChatPrompt& prompt,
                                  std::string_view bos, std::string_view eos,
                                  std::optional<std::int64_t> now) {
    if (prompt.continueFinalMessage && prompt.addGenerationPrompt) {
        return failField("continue_final_message",
                         "continue_final_message and add_generation_prompt are both true: a reply "
                         "either goes on with the last message or starts a new one");
    }
    if (prompt.messages.empty()) {
        return failField("messages", "messages is empty; at least one message is needed");
    }
    if (const Status status = checkUtf8(prompt.messages); !status) {
        return tl::unexpected(status.error());
    }
    auto chosen = choose(templates, prompt);
    if (!chosen) {
        return forward(chosen);
    }
    auto tools = toolsJson(prompt.tools);
    if (!tools) {
        return forward(tools);
    }
    Json messages = Json::array();
    for (const ChatMessage& message : prompt.messages) {
        messages.push_back(toJson(message));
    }
    if (prompt.continueFinalMessage) {
        if (const Status status = markEnd(messages); !status) {
            return tl::unexpected(status.error());
        }
    }
    TemplateInput input;
    input.messages = messages.dump();
    input.tools = std::move(*tools);
    input.kwargs = prompt.templateKwargs;
    input.bos = bos;
    input.eos = eos;
    input.addGenerationPrompt = prompt.addGenerationPrompt;
    input.now = now;
    auto text = (*chosen)->renderChat(input);
    if (!text && !input.tools.empty() && completeTools(input.tools)) {
        text = (*chosen)->renderChat(input);
    }
    ReplyFormat format = recognizeReplyFormat((*chosen)->source());
    if (!input.tools.empty() && hasNoPlaceForTools(**chosen, input, text)) {
        TemplateInput told = input;
        told.messages = withToolsAsText(messages, input.tools).dump();
        told.tools.clear();
        format.calls = kTextToolsDialect;
        text = (*chosen)->renderChat(told);
    }
    if (!text) {
        if (text.error().field.empty()) {
            nameMessage(text.error(), **chosen, messages, input);
        }
        return forward(text);
    }
    if (prompt.continueFinalMessage) {
        text = cutAtMark(std::move(*text));
        if (!text) {
            return forward(text);
        }
    }
    return RenderedChat{.text = std::move(*text), .replyFormat = std::move(format)};
}

}  // namespace quern::engine
