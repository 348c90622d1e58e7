#include "ui/core/worker.h"

namespace quern::ui {

Worker::Worker() : m_thread([this] { run(); }) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(m_mutex);
        m_isEnding = true;
    }
    m_wake.notify_one();
    m_thread.join();
}

void Worker::post(std::function<void()> task) {
    {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    m_wake.notify_one();
}

bool Worker::isIdle() const {
    const std::lock_guard lock(m_mutex);
    return m_tasks.empty() && !m_isBusy;
}

void Worker::run() {
    std::unique_lock lock(m_mutex);
    while (true) {
        m_wake.wait(lock, [this] { return m_isEnding || !m_tasks.empty(); });
        if (m_tasks.empty()) {
            return;
        }
        std::function<void()> task = std::move(m_tasks.front());
        m_tasks.pop_front();
        m_isBusy = true;
        lock.unlock();
        task();
        task = nullptr;
        lock.lock();
        m_isBusy = false;
    }
}

}  // namespace quern::ui
