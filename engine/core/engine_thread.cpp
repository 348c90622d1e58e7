#include "engine/core/engine_thread.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace quern::engine {

EngineThread::EngineThread() : m_thread([this] { loop(); }) {}

EngineThread::~EngineThread() {
    if (post(DrainCommand{.deadline = Clock::now()})) {
        join();
    }
}

bool EngineThread::post(Command&& command) {
    {
        const std::lock_guard lock(m_commandMutex);
        if (m_isClosed) {
            return false;
        }
        m_commands.push_back(std::move(command));
    }
    m_wake.notify_one();
    return true;
}

void EngineThread::join() {
    const std::lock_guard lock(m_joinMutex);
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

void EngineThread::loop() {
    bool isOpen = true;
    while (isOpen) {
        try {
            isOpen = turn();
        } catch (const std::exception& exception) {
            // Memory ran out between two steps: what runs is given up, the engine lives on.
            giveUp(exception);
        }
    }
    close();
}

bool EngineThread::turn() {
    waitForWork();
    takeCommands();
    const Clock::time_point now = Clock::now();
    {
        const std::lock_guard lock(m_stateMutex);
        for (const auto& runtime : m_runtimes) {
            runtime->endOverdue(now);
        }
        if (m_drainDeadline && now >= *m_drainDeadline) {
            endAll(FinishReason::kCancelled, std::nullopt);
        }
    }
    deliver();
    for (const auto& runtime : m_runtimes) {
        if (runtime->hasWork()) {
            step(*runtime);
        }
    }
    const bool isIdle =
        std::ranges::all_of(m_runtimes, [](const auto& runtime) { return runtime->isEmpty(); });
    return !(m_drainDeadline && isIdle);
}

void EngineThread::waitForWork() {
    std::optional<Clock::time_point> until = m_drainDeadline;
    for (const auto& runtime : m_runtimes) {
        if (runtime->hasWork()) {
            return;
        }
        if (const auto deadline = runtime->nextDeadline()) {
            until = std::min(until.value_or(*deadline), *deadline);
        }
    }
    std::unique_lock lock(m_commandMutex);
    const auto hasCommand = [this] { return !m_commands.empty(); };
    if (until) {
        m_wake.wait_until(lock, *until, hasCommand);
    } else {
        m_wake.wait(lock, hasCommand);
    }
}

void EngineThread::takeCommands() {
    m_taken.clear();
    {
        const std::lock_guard lock(m_commandMutex);
        m_taken.swap(m_commands);
    }
    for (Command& command : m_taken) {
        const std::lock_guard lock(m_stateMutex);
        try {
            std::visit([this](auto& one) { execute(one); }, command);
        } catch (const std::exception& exception) {
            if (auto* submit = std::get_if<SubmitCommand>(&command)) {
                refuse(*submit, Error{.code = ErrorCode::kInternal,
                                      .message = "the request could not be taken",
                                      .cause = exception.what()});
            }
        }
    }
    m_taken.clear();
}

void EngineThread::refuse(SubmitCommand& command, const Error& error) {
    leaveQueue();
    for (std::int32_t choice = 0; choice < command.request.request.choices; ++choice) {
        TokenEvent event{.request = command.id, .choice = choice};
        event.finish = finishOf(FinishReason::kError, error, Usage{});
        m_deliveries.push_back(Delivery{.sink = command.sink, .event = std::move(event)});
    }
}

bool EngineThread::enterQueue(std::size_t most) {
    std::size_t queued = m_queued.load(std::memory_order_relaxed);
    do {
        if (queued >= most) {
            return false;
        }
    } while (!m_queued.compare_exchange_weak(queued, queued + 1, std::memory_order_relaxed));
    return true;
}

void EngineThread::execute(SubmitCommand& command) {
    const auto runtime = std::ranges::find(m_runtimes, command.model, &ModelRuntime::model);
    if (runtime != m_runtimes.end()) {
        const std::string adapter = command.request.request.adapter;
        if (!(*runtime)->submit(command.id, command.request, command.sink)) {
            refuse(command, Error{.code = ErrorCode::kNotFound,
                                  .message = "adapter " + adapter + " was unloaded"});
        }
        return;
    }
    refuse(command, Error{.code = ErrorCode::kNotFound,
                          .message = "model " + command.model->name + " was unloaded"});
}

void EngineThread::execute(CancelCommand& command) {
    for (const auto& runtime : m_runtimes) {
        runtime->end(command.id, FinishReason::kCancelled, std::nullopt);
    }
}

void EngineThread::execute(PauseCommand& command) {
    for (const auto& runtime : m_runtimes) {
        runtime->setPaused(command.id, command.isPaused);
    }
}

void EngineThread::execute(AddModelCommand& command) {
    m_runtimes.push_back(std::move(command.runtime));
    command.added.set_value();
}

void EngineThread::execute(RemoveModelCommand& command) {
    const auto runtime = std::ranges::find(m_runtimes, command.model, &ModelRuntime::model);
    std::unique_ptr<ModelRuntime> removed;
    if (runtime != m_runtimes.end()) {
        removed = std::move(*runtime);
        m_runtimes.erase(runtime);
        removed->endAll(FinishReason::kCancelled, std::nullopt);
        removed->takeDeliveries(m_deliveries);
    }
    m_removals.push_back(
        Removal{.promise = std::move(command.removed), .runtime = std::move(removed)});
}

void EngineThread::execute(AddAdapterCommand& command) {
    const auto runtime = std::ranges::find(m_runtimes, command.model, &ModelRuntime::model);
    if (runtime != m_runtimes.end()) {
        (*runtime)->addAdapter(std::move(command.adapter));
    }
    command.added.set_value(runtime != m_runtimes.end());
}

void EngineThread::execute(RemoveAdapterCommand& command) {
    for (const auto& runtime : m_runtimes) {
        runtime->removeAdapter(command.id);
    }
}

void EngineThread::execute(ResetCacheCommand& command) {
    const auto runtime = std::ranges::find(m_runtimes, command.model, &ModelRuntime::model);
    if (runtime != m_runtimes.end()) {
        (*runtime)->forgetCached();
    }
}

void EngineThread::execute(DrainCommand& command) {
    m_drainDeadline = std::min(m_drainDeadline.value_or(command.deadline), command.deadline);
}

void EngineThread::step(ModelRuntime& runtime) {
    bool isPlanned = false;
    {
        const std::lock_guard lock(m_stateMutex);
        isPlanned = runtime.plan();
    }
    deliver();
    if (!isPlanned) {
        return;
    }
    runtime.run();
    {
        const std::lock_guard lock(m_stateMutex);
        runtime.apply();
    }
    deliver();
}

void EngineThread::endAll(FinishReason reason, const std::optional<Error>& error) {
    for (const auto& runtime : m_runtimes) {
        runtime->endAll(reason, error);
    }
}

void EngineThread::deliver() noexcept {
    for (const auto& runtime : m_runtimes) {
        runtime->takeDeliveries(m_deliveries);
    }
    for (Delivery& delivery : m_deliveries) {
        try {
            if (delivery.sink) {
                delivery.sink->onEvent(std::move(delivery.event));
            }
        } catch (...) {
            // A sink that fails loses its own event; the others get theirs.
        }
    }
    m_deliveries.clear();
    for (Removal& removal : m_removals) {
        removal.promise.set_value(std::move(removal.runtime));
    }
    m_removals.clear();
}

void EngineThread::giveUp(const std::exception& exception) {
    {
        const std::lock_guard lock(m_stateMutex);
        endAll(FinishReason::kError, Error{.code = ErrorCode::kInternal,
                                           .message = "the engine could not go on",
                                           .cause = exception.what()});
    }
    deliver();
}

void EngineThread::close() {
    {
        const std::lock_guard lock(m_commandMutex);
        m_isClosed = true;
    }
    // Commands that came in after the last look: each is answered.
    takeCommands();
    {
        const std::lock_guard lock(m_stateMutex);
        endAll(FinishReason::kCancelled, std::nullopt);
    }
    deliver();
    std::vector<std::unique_ptr<ModelRuntime>> runtimes;
    const std::lock_guard lock(m_stateMutex);
    runtimes.swap(m_runtimes);
}

}  // namespace quern::engine
