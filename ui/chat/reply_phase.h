#pragma once

#include <QString>

#include "engine/snapshot.h"
#include "ui/ports/reply_service.h"

namespace quern::ui {

/// The line under a reply that is under way, as the engine's last snapshot knows it: its place in
/// the queue, how much of the prompt is read, how fast it writes.
[[nodiscard]] QString describePhase(const ReplyView& reply, const engine::EngineSnapshot& snapshot);

}  // namespace quern::ui
