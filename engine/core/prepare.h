#pragma once

#include "engine/engine.h"

namespace quern::engine {

/// Puts a request through the template, the tokenizer and every check. Errors name the field, what
/// was given and what is allowed; nothing is cut to fit. Any thread.
[[nodiscard]] Result<PreparedRequest> prepareRequest(const LoadedModel& model, Request request);

/// The checks of a prepared request that a loaded model relies on: ids it has, a length that fits.
/// `vocabulary`: ids the model takes.
[[nodiscard]] Status checkPrepared(const LoadedModel& model, std::int64_t vocabulary,
                                   const PreparedRequest& prepared);

}  // namespace quern::engine
