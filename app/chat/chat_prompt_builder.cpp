#include "app/chat/chat_prompt_builder.h"

#include <algorithm>

namespace quern::app {

engine::ChatPrompt buildChatPrompt(const Conversation& conversation, std::int32_t leaveOut,
                                   bool continueLast) {
    engine::ChatPrompt prompt;
    const auto add = [&](const std::string& role, const std::string& text) {
        engine::ChatMessage message;
        message.role = role;
        message.textParts = {text};
        prompt.messages.push_back(std::move(message));
    };
    if (!conversation.systemPrompt.empty()) {
        add("system", conversation.systemPrompt);
    }
    const auto skipped = static_cast<std::size_t>(std::max(leaveOut, 0));
    for (std::size_t i = skipped; i < conversation.path.size(); ++i) {
        add(conversation.path[i].role, conversation.path[i].text);
    }
    prompt.continueFinalMessage = continueLast;
    prompt.addGenerationPrompt = !continueLast;
    return prompt;
}

}  // namespace quern::app
