#pragma once

#include "engine/engine.h"

namespace quern::app {

/// What reads the reply to a chat. A chat offers no tools, but its system prompt may describe some:
/// calls are looked for where the model marks them, and `prepared` is made to show their marks.
/// Where a model's calls are bare JSON nothing is looked for, so that an answer stays an answer.
[[nodiscard]] engine::ReplyParser chatReplyParser(const engine::LoadedModel& model,
                                                  engine::PreparedRequest& prepared);

}  // namespace quern::app
