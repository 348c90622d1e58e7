#pragma once

#include "app/chat/chat_service.h"

namespace quern::app {

/// The conversation that an order's reply answers: its path ends at the order's parent, or at the
/// user's message that the order adds, which has no id yet.
[[nodiscard]] Result<Conversation> conversationOf(ConversationStore& store,
                                                  const ReplyOrder& order);

/// The engine's request for a reply to it.
[[nodiscard]] engine::Request requestFor(const Conversation& conversation, const ReplyOrder& order,
                                         const engine::LoadedModel& model);

/// See ChatService.
[[nodiscard]] Result<PromptSize> measurePrompt(const Conversation& conversation,
                                               const ReplyOrder& order,
                                               const engine::LoadedModel& model);
[[nodiscard]] Result<std::optional<MessageId>> firstThatFits(const Conversation& conversation,
                                                             const ReplyOrder& order,
                                                             const engine::LoadedModel& model,
                                                             std::int64_t limit);

}  // namespace quern::app
