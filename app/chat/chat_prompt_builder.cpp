#include "app/chat/chat_prompt_builder.h"

namespace quern::app {

engine::ChatPrompt buildChatPrompt(const Conversation& conversation, MessageId first,
                                   bool continueLast) {
    engine::ChatPrompt prompt;
    if (!conversation.systemPrompt.empty()) {
        prompt.messages.push_back({.role = "system", .textParts = {conversation.systemPrompt}});
    }
    for (const Message& message : conversation.path) {
        const bool isLeftOut = message.id != 0 && message.id < first;
        const bool saysNothing = message.role != "user" && message.text.empty();
        if (isLeftOut || saysNothing || message.state == MessageState::kFailed) {
            continue;
        }
        prompt.messages.push_back(
            {.role = message.role, .textParts = {message.text}, .reasoning = message.reasoning});
    }
    prompt.continueFinalMessage = continueLast;
    prompt.addGenerationPrompt = !continueLast;
    return prompt;
}

}  // namespace quern::app
