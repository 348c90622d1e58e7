#pragma once

#include <functional>
#include <memory>

#include "app/server/http/exchange.h"
#include "app/server/openai/exchange_job.h"
#include "app/server/openai/generation_request.h"

namespace quern::app {

/// Answers one request of chat or completions: prepares every prompt, submits them, and writes
/// their events as a stream or as one answer. Cancels all when the client goes away; pauses all
/// while it does not read. Runs on the exchange's thread and keeps itself alive until the end.
/// `engine` must outlive it; `done` is called once.
void startGeneration(std::shared_ptr<Exchange> exchange, engine::Engine& engine,
                     GenerationRequest request, std::function<void(const RequestOutcome&)> done);

}  // namespace quern::app
