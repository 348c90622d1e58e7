#pragma once

#include "app/chat/conversation_store.h"

namespace quern::app {

/// Puts the demo's conversations into an empty store. `clockMs` is what the store's clock reads.
/// Returns the id of the last one; kIo as the store gives it.
[[nodiscard]] Result<ConversationId> fillDemoStore(ConversationStore& store, bool isLong,
                                                   std::int64_t& clockMs);

}  // namespace quern::app
