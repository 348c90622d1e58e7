#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quern::engine {

/// A few threads that do short jobs in order of arrival. Internally locked.
class WorkerPool {
public:
    WorkerPool(std::size_t threads, std::size_t maxQueued);
    /// Waits for the jobs that run and drops those that wait, which are told.
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// `job` is called once on a worker: with true to do its work, with false when the pool is
    /// closed before. Returns false, and calls nothing, when too many wait or the pool is closed.
    [[nodiscard]] bool post(std::function<void(bool)> job);
    /// Takes no more jobs, tells those that wait and joins. Idempotent; not from a job.
    void close();

private:
    void work();

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<std::function<void(bool)>> m_jobs;
    std::size_t m_maxQueued;
    bool m_isClosed = false;
    std::vector<std::jthread> m_threads;
};

}  // namespace quern::engine
