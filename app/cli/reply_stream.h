#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/request.h"

namespace quern::cli {

/// An EventSink that a thread reads from. Internally locked.
class ReplyStream : public engine::EventSink {
public:
    void onEvent(engine::TokenEvent event) override {
        {
            const std::lock_guard lock(m_mutex);
            m_events.push_back(std::move(event));
        }
        m_arrived.notify_one();
    }
    /// Waits for the next event.
    [[nodiscard]] engine::TokenEvent next() {
        std::unique_lock lock(m_mutex);
        m_arrived.wait(lock, [this] { return !m_events.empty(); });
        engine::TokenEvent event = std::move(m_events.front());
        m_events.pop_front();
        return event;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_arrived;
    std::deque<engine::TokenEvent> m_events;
};

}  // namespace quern::cli
