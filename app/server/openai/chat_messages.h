#pragma once

#include <optional>
#include <vector>

#include "app/server/openai/fields.h"
#include "engine/request.h"

namespace quern::app {

/// Reads the `messages` of a chat: text or text parts, tool calls and results, reasoning. The
/// error's param names the message ("messages[2].content").
[[nodiscard]] std::optional<ApiError> readChatMessages(const Json& messages,
                                                       std::vector<engine::ChatMessage>& out);

}  // namespace quern::app
