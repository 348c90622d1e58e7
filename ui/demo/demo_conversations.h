#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// When the stills are taken: 15 January 2026, noon UTC; seconds since 1970.
inline constexpr std::int64_t kDemoNow = 1768478400;

/// A conversation to be put into a store.
struct DemoConversation {
    std::string title;
    std::int64_t updatedAt = 0;  // seconds since 1970
    std::vector<Turn> turns;     // `parent` is the place of another one, from 1; 0: none
};

/// A handful of conversations, oldest first. Scenes open the last one, which is long on demand.
[[nodiscard]] std::vector<DemoConversation> demoConversations(bool isLong);

}  // namespace quern::ui
