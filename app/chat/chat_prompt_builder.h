#pragma once

#include "app/chat/conversation_store.h"
#include "engine/request.h"

namespace quern::app {

/// The chat that a conversation's path is, as a prompt. The first `leaveOut` messages stay out, the
/// system prompt always goes in. With `continueLast` the last message is a reply to be gone on
/// with.
[[nodiscard]] engine::ChatPrompt buildChatPrompt(const Conversation& conversation,
                                                 std::int32_t leaveOut, bool continueLast);

}  // namespace quern::app
