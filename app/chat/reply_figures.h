#pragma once

#include <string>

#include "app/chat/conversation_store.h"
#include "engine/request.h"

namespace quern::app {

/// What describeStop says of a reply that has filled the context.
inline constexpr const char* kStopContextFull = "context full";

/// Why a reply ended, for people: "eos", "length", "stopped", kStopContextFull, or the stop string
/// in quotes.
[[nodiscard]] std::string describeStop(const engine::FinishInfo& finish);

/// The figures of a reply that has ended, as they stand under it.
[[nodiscard]] ReplyStats figuresOf(const engine::FinishInfo& finish);

}  // namespace quern::app
