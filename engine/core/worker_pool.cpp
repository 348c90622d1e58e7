#include "engine/core/worker_pool.h"

#include <utility>

namespace quern::engine {

WorkerPool::WorkerPool(std::size_t threads, std::size_t maxQueued) : m_maxQueued(maxQueued) {
    for (std::size_t i = 0; i < threads; ++i) {
        m_threads.emplace_back([this] { work(); });
    }
}

WorkerPool::~WorkerPool() {
    close();
}

bool WorkerPool::post(std::function<void(bool)> job) {
    {
        const std::lock_guard lock(m_mutex);
        if (m_isClosed || m_jobs.size() >= m_maxQueued) {
            return false;
        }
        m_jobs.push_back(std::move(job));
    }
    m_changed.notify_one();
    return true;
}

void WorkerPool::close() {
    std::vector<std::jthread> threads;
    {
        const std::lock_guard lock(m_mutex);
        m_isClosed = true;
        threads.swap(m_threads);
    }
    m_changed.notify_all();
}

void WorkerPool::work() {
    while (true) {
        std::function<void(bool)> job;
        bool isOpen = true;
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [this] { return m_isClosed || !m_jobs.empty(); });
            if (m_jobs.empty()) {
                return;
            }
            job = std::move(m_jobs.front());
            m_jobs.pop_front();
            isOpen = !m_isClosed;
        }
        job(isOpen);
    }
}

}  // namespace quern::engine
