#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace quern::cli {

/// Takes Ctrl+C, SIGTERM and the terminal's end (SIGHUP) as news instead of death. Make it first
/// thing in main, before any other thread, so that all of them have the signal blocked.
class InterruptWatcher {
public:
    InterruptWatcher();
    ~InterruptWatcher();
    InterruptWatcher(const InterruptWatcher&) = delete;
    InterruptWatcher& operator=(const InterruptWatcher&) = delete;

    /// What the next signal does, on the watcher's thread; empty: the program exits with 130.
    void setHandler(std::function<void()> handler);
    /// What SIGTERM and SIGHUP do where that differs from Ctrl+C; empty: the same.
    void setEnding(std::function<void()> ending);

private:
    int m_signals = -1;  // signalfd
    int m_wake = -1;     // eventfd: ends the thread
    std::mutex m_mutex;
    std::function<void()> m_handler;
    std::function<void()> m_ending;
    std::jthread m_thread;
};

}  // namespace quern::cli
