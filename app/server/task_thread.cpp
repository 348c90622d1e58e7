#include "app/server/task_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace quern::app {

class TaskThread::State {
public:
    State() : m_thread([this](const std::stop_token& stop) { run(stop); }) {}

    void post(std::function<void()> task) {
        {
            const std::lock_guard lock(m_mutex);
            m_tasks.push_back(std::move(task));
        }
        m_arrived.notify_one();
    }

private:
    void run(const std::stop_token& stop) {
        while (true) {
            std::function<void()> task;
            {
                std::unique_lock lock(m_mutex);
                if (!m_arrived.wait(lock, stop, [this] { return !m_tasks.empty(); })) {
                    return;
                }
                if (stop.stop_requested()) {
                    return;
                }
                task = std::move(m_tasks.front());
                m_tasks.pop_front();
            }
            task();
        }
    }

    std::mutex m_mutex;
    std::condition_variable_any m_arrived;
    std::deque<std::function<void()>> m_tasks;
    std::jthread m_thread;  // last: it uses the rest
};

TaskThread::TaskThread() : m_state(std::make_unique<State>()) {}

TaskThread::~TaskThread() = default;

void TaskThread::post(std::function<void()> task) {
    m_state->post(std::move(task));
}

}  // namespace quern::app
