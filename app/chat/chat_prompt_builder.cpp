#include "app/chat/chat_prompt_builder.h"

#include <array>
#include <cstdio>

namespace quern::app {

namespace {

// Nine letters and digits, as the strictest templates want them.
std::string callId(std::size_t index) {
    std::array<char, 16> id{};
    std::snprintf(id.data(), id.size(), "call%05zu", index);
    return id.data();
}

std::vector<engine::ToolCall> callsOf(const Message& message) {
    std::vector<engine::ToolCall> calls;
    for (const MessageCall& call : message.calls) {
        calls.push_back(
            {.id = callId(calls.size()), .name = call.name, .arguments = call.arguments});
    }
    return calls;
}

}  // namespace

engine::ChatPrompt buildChatPrompt(const Conversation& conversation, MessageId first,
                                   bool continueLast) {
    engine::ChatPrompt prompt;
    if (!conversation.systemPrompt.empty()) {
        prompt.messages.push_back({.role = "system", .textParts = {conversation.systemPrompt}});
    }
    for (const Message& message : conversation.path) {
        const bool isLeftOut = message.id != 0 && message.id < first;
        const bool saysNothing =
            message.role != "user" && message.text.empty() && message.calls.empty();
        if (isLeftOut || saysNothing || message.state == MessageState::kFailed) {
            continue;
        }
        prompt.messages.push_back({.role = message.role,
                                   .textParts = {message.text},
                                   .reasoning = message.reasoning,
                                   .toolCalls = callsOf(message)});
    }
    prompt.continueFinalMessage = continueLast;
    prompt.addGenerationPrompt = !continueLast;
    return prompt;
}

}  // namespace quern::app
