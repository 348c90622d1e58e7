#pragma once

#include "app/chat/chat_service.h"

namespace quern::app {

/// Gives a reply its place: makes the conversation where the order has none, adds the user's
/// message and the empty reply. `conversation` is what conversationOf() gave. Fills in the
/// conversation of `start` and what was added to it.
[[nodiscard]] Status placeReply(ConversationStore& store, const ReplyOrder& order,
                                const engine::LoadedModel& model, const Conversation& conversation,
                                ReplyStart& start);

}  // namespace quern::app
