#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/core/command.h"

namespace quern::engine {

/// The thread that owns schedulers, caches and runners: drain commands → plan → run → apply →
/// deliver, model by model, a step each. Sinks are called on it and on no other thread.
class EngineThread {
public:
    EngineThread();
    /// Ends everything at once if nobody drained it before.
    ~EngineThread();

    /// Queues a command; false (and the command untouched) when the thread has ended. Any thread.
    [[nodiscard]] bool post(Command&& command);
    /// Waits for the thread to end. After a DrainCommand; any thread but itself.
    void join();

    /// Counts one more request that waits to be scheduled, unless `most` do. Any thread.
    [[nodiscard]] bool enterQueue(std::size_t most);
    /// A request counted by enterQueue that was not posted after all.
    void leaveQueue() { m_queued.fetch_sub(1, std::memory_order_relaxed); }
    /// For runtimes, which count their requests out.
    [[nodiscard]] std::atomic<std::size_t>* queued() { return &m_queued; }

    /// Calls `read` with the runtimes under the state lock: it must be short. Any thread.
    template <class Read>
    auto read(Read read) const {
        const std::lock_guard lock(m_stateMutex);
        return read(std::span<const std::unique_ptr<ModelRuntime>>(m_runtimes));
    }

private:
    using Clock = std::chrono::steady_clock;

    void loop();
    [[nodiscard]] bool turn();
    void waitForWork();
    void takeCommands();
    void execute(SubmitCommand& command);
    void execute(CancelCommand& command);
    void execute(PauseCommand& command);
    void execute(AddModelCommand& command);
    void execute(RemoveModelCommand& command);
    void execute(AddAdapterCommand& command);
    void execute(RemoveAdapterCommand& command);
    void execute(ResetCacheCommand& command);
    void execute(DrainCommand& command);
    void step(ModelRuntime& runtime);
    void refuse(SubmitCommand& command, const Error& error);
    void endAll(FinishReason reason, const std::optional<Error>& error);
    /// Calls sinks, then answers removals. Never under the lock.
    void deliver() noexcept;
    void giveUp(const std::exception& exception);
    void close();

    std::mutex m_commandMutex;
    std::condition_variable m_wake;
    std::vector<Command> m_commands;
    bool m_isClosed = false;

    std::atomic<std::size_t> m_queued{0};

    mutable std::mutex m_stateMutex;
    std::vector<std::unique_ptr<ModelRuntime>> m_runtimes;  // written by the thread, under the lock

    // The thread's own.
    std::vector<Command> m_taken;
    std::vector<Delivery> m_deliveries;
    struct Removal {
        std::promise<std::unique_ptr<ModelRuntime>> promise;
        std::unique_ptr<ModelRuntime> runtime;
    };
    std::vector<Removal> m_removals;  // told when their last events are out
    std::optional<Clock::time_point> m_drainDeadline;

    std::mutex m_joinMutex;
    std::jthread m_thread;  // last: starts when all else is there
};

}  // namespace quern::engine
