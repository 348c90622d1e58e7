#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace quern::app {

/// A time by which something is done unless it is cancelled or moved. Belongs to the I/O thread.
class Deadline {
public:
    explicit Deadline(boost::asio::io_context& context) : m_timer(context) {}

    /// Takes the place of what was set before. `atEnd` keeps alive what this belongs to.
    void set(std::chrono::milliseconds time, std::function<void()> atEnd) {
        m_timer.expires_after(time);
        // A wait that ended just before it was cancelled still reports success: its turn is over.
        m_timer.async_wait([this, turn = ++m_turn,
                            atEnd = std::move(atEnd)](const boost::system::error_code& error) {
            if (!error && turn == m_turn) {
                atEnd();
            }
        });
    }

    void cancel() {
        ++m_turn;
        m_timer.cancel();
    }

private:
    boost::asio::steady_timer m_timer;
    std::uint64_t m_turn = 0;
};

}  // namespace quern::app
