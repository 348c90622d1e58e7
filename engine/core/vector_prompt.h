#pragma once

#include "engine/engine.h"

namespace quern::engine {

/// Whether the request wants what the model gives: tokens, a vector or a score. kUnsupported says
/// what the model is for.
[[nodiscard]] Status checkTask(const LoadedModel& model, const Request& request);

/// The limits of a request for a vector: dimensions, and the length of its text, which is cut only
/// where that was asked for. Special tokens at the end stay. Changes promptIds of `prepared`.
[[nodiscard]] Status fitVectorPrompt(const LoadedModel& model, PreparedRequest& prepared);

}  // namespace quern::engine
