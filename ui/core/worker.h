#pragma once

#include <QMetaObject>
#include <QObject>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace quern::ui {

/// One thread that does, in order, what must not be done on the GUI's: engine calls, storage,
/// reading files. Results come back as queued calls. Internally locked; made and destroyed on the
/// GUI thread, and destroyed before every object that was given as `receiver`: items of a scene,
/// which come and go, name somebody who stays.
class Worker {
public:
    Worker();
    /// Runs what is in the queue to its end first: what the user asked to be saved is saved.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void post(std::function<void()> task);

    /// Runs `work` on the worker and then `done(result)` on the receiver's thread.
    template <class Work, class Done>
    void ask(QObject* receiver, Work work, Done done) {
        post([receiver, work = std::move(work), done = std::move(done)]() mutable {
            QMetaObject::invokeMethod(
                receiver,
                [result = work(), done = std::move(done)]() mutable { done(std::move(result)); },
                Qt::QueuedConnection);
        });
    }

    /// True when nothing is queued or running.
    [[nodiscard]] bool isIdle() const;

private:
    void run();

    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::function<void()>> m_tasks;
    bool m_isBusy = false;
    bool m_isEnding = false;
    std::thread m_thread;
};

}  // namespace quern::ui
