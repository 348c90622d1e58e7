#pragma once

#include <functional>
#include <memory>

#include "app/server/http/exchange.h"
#include "app/server/openai/exchange_job.h"
#include "app/server/openai/vector_request.h"

namespace quern::app {

/// Answers one request for vectors or scores: prepares and submits its texts, a bounded number at a
/// time, and answers when all are there. Cancels all when the client goes away or one fails. Runs
/// on the exchange's thread and keeps itself alive until the end. `engine` must outlive it; `done`
/// is called once.
void startVectors(std::shared_ptr<Exchange> exchange, engine::Engine& engine, VectorKind kind,
                  VectorRequest request, std::function<void(const RequestOutcome&)> done);

}  // namespace quern::app
