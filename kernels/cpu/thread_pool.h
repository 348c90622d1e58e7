#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace quern::kernels::cpu {

/// A counter that threads wait on: they spin for a while, because the next value is usually
/// microseconds away, and then sleep. Internally synchronized.
class Gate {
public:
    [[nodiscard]] std::uint32_t value() const { return m_value.load(std::memory_order_acquire); }
    /// Advances the value and wakes whoever sleeps. All writes before it are seen by the waiters.
    void open();
    /// Returns once the value differs from `old`.
    void wait(std::uint32_t old);

private:
    std::atomic<std::uint32_t> m_value{0};
    std::atomic<std::int32_t> m_sleepers{0};
    std::mutex m_mutex;
    std::condition_variable m_changed;
};

/// The workers of a CPU backend, shared by all its programs. The thread that calls run() is worker
/// 0; the others sleep between runs. run() may be called from any thread, one call computes at a
/// time.
class ThreadPool {
public:
    using Task = void (*)(void* context, std::int32_t worker) noexcept;

    /// `threads` ≥ 1 counts the caller. When the system refuses a thread the pool has fewer.
    explicit ThreadPool(std::int32_t threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    [[nodiscard]] std::int32_t threads() const { return m_threads; }

    /// Calls task(context, worker) on every worker and returns when all have finished. Allocates
    /// nothing.
    void run(Task task, void* context);

    /// Within a task: returns when every worker of the run has called it. Writes before it are seen
    /// after it by all.
    void barrier();

private:
    void work(std::int32_t worker);

    std::int32_t m_threads = 1;
    std::mutex m_runMutex;
    Task m_task = nullptr;
    void* m_context = nullptr;
    bool m_isStopping = false;
    Gate m_start;
    // Each on its own cache line: all workers write the first, all read the second.
    alignas(64) std::atomic<std::int32_t> m_arrived{0};
    alignas(64) Gate m_barrier;
    std::vector<std::thread> m_workers;
};

}  // namespace quern::kernels::cpu
