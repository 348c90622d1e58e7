#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <memory>
#include <string>

namespace quern::app {

/// Whom an outbox tells of its progress.
class OutboxOwner {
public:
    virtual ~OutboxOwner() = default;
    /// Holds the owner, and the outbox with it, while bytes are on their way.
    [[nodiscard]] virtual std::shared_ptr<void> keepAlive() = 0;
    /// The client has left too much unread, or has caught up.
    virtual void onPressure(bool isSlow) = 0;
    virtual void onAllWritten() = 0;
    virtual void onWriteFailed() = 0;
};

/// Bytes on their way to one client, in order. Belongs to the I/O thread.
class Outbox {
public:
    /// More than `mostUnread` bytes make a client slow, until half of them are read. Socket and
    /// owner must outlive it.
    Outbox(boost::asio::ip::tcp::socket& socket, std::size_t mostUnread, OutboxOwner& owner)
        : m_socket(socket), m_mostUnread(mostUnread), m_owner(owner) {}

    void push(std::string bytes);
    /// A new answer begins: whether the client is slow is told anew.
    void restart() { m_isSlow = false; }

private:
    void writeNext();
    void onWritten();

    boost::asio::ip::tcp::socket& m_socket;
    std::size_t m_mostUnread;
    OutboxOwner& m_owner;
    std::deque<std::string> m_waiting;  // the first one is being written
    std::size_t m_unread = 0;           // bytes of `m_waiting`
    bool m_isSlow = false;
};

}  // namespace quern::app
