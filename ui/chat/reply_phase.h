#pragma once

#include <QString>

#include "engine/snapshot.h"
#include "ui/chat/reply_writer.h"

namespace quern::ui {

/// "idle" "preparing" "queued" "prefill" "writing"
[[nodiscard]] QString phaseName(ReplyWriter::Phase phase);

/// The line under a reply that is under way, as the engine's last snapshot knows it: its place in
/// the queue, how much of the prompt is read, how fast it writes.
[[nodiscard]] QString describePhase(ReplyWriter::Phase phase, engine::RequestId request,
                                    const engine::EngineSnapshot& snapshot);

}  // namespace quern::ui
