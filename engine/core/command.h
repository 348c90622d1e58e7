#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <variant>

#include "engine/core/model_runtime.h"

namespace quern::engine {

/// What other threads ask of the engine thread. Values, moved through a queue.
struct SubmitCommand {
    RequestId id = 0;
    std::shared_ptr<const LoadedModel> model;
    PreparedRequest request;
    std::shared_ptr<EventSink> sink;
};
struct CancelCommand {
    RequestId id = 0;
};
struct PauseCommand {
    RequestId id = 0;
    bool isPaused = false;
};
/// The promise is told whether the model is still there.
struct AddAdapterCommand {
    std::shared_ptr<const LoadedModel> model;
    AdapterHandover adapter;
    std::promise<bool> added;
};
struct RemoveAdapterCommand {
    std::uint64_t id = 0;
};
struct AddModelCommand {
    std::unique_ptr<ModelRuntime> runtime;
    std::promise<void> added;
};
/// The promise is given the runtime, so that the caller's thread frees it; null when it is gone.
struct RemoveModelCommand {
    std::shared_ptr<const LoadedModel> model;
    std::promise<std::unique_ptr<ModelRuntime>> removed;
};
struct ResetCacheCommand {
    std::shared_ptr<const LoadedModel> model;
};
struct DrainCommand {
    std::chrono::steady_clock::time_point deadline;
};

using Command =
    std::variant<SubmitCommand, CancelCommand, PauseCommand, AddModelCommand, RemoveModelCommand,
                 AddAdapterCommand, RemoveAdapterCommand, ResetCacheCommand, DrainCommand>;

}  // namespace quern::engine
