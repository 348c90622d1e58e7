#pragma once

#include "app/chat/conversation_store.h"
#include "engine/request.h"

namespace quern::app {

/// The chat that a conversation's path is, as a prompt. Messages before `first` stay out (0: none
/// does), as do replies that failed or
/// neither say nor call anything; the system prompt always goes in. With
/// `continueLast` the last message is a reply to be gone on with.
[[nodiscard]] engine::ChatPrompt buildChatPrompt(const Conversation& conversation, MessageId first,
                                                 bool continueLast);

}  // namespace quern::app
