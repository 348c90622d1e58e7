#pragma once

#include <string>
#include <vector>

#include "app/chat/conversation_store.h"

namespace quern::app {

/// Calls as the store keeps them, [[name, arguments], …], and back. Empty text is no calls, as is
/// text that does not parse.
[[nodiscard]] std::string callsToJson(const std::vector<MessageCall>& calls);
[[nodiscard]] std::vector<MessageCall> callsFromJson(const std::string& json);

}  // namespace quern::app
