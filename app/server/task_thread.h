#pragma once

#include <functional>
#include <memory>

namespace quern::app {

/// A thread that does one task after the other. Whoever posts bounds how many wait: here each
/// connection has one at most. Any thread may post; the end drops what waits.
class TaskThread {
public:
    TaskThread();
    ~TaskThread();
    TaskThread(const TaskThread&) = delete;
    TaskThread& operator=(const TaskThread&) = delete;

    void post(std::function<void()> task);

private:
    class State;
    std::unique_ptr<State> m_state;
};

}  // namespace quern::app
