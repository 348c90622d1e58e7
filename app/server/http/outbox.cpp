#include "app/server/http/outbox.h"

#include <boost/asio/write.hpp>
#include <utility>

namespace quern::app {

void Outbox::push(std::string bytes) {
    m_unread += bytes.size();
    m_waiting.push_back(std::move(bytes));
    if (!m_isSlow && m_unread > m_mostUnread) {
        m_isSlow = true;
        m_owner.onPressure(true);
    }
    if (m_waiting.size() == 1) {
        writeNext();
    }
}

void Outbox::writeNext() {
    boost::asio::async_write(
        m_socket, boost::asio::buffer(m_waiting.front()),
        [this, owner = m_owner.keepAlive()](const boost::system::error_code& error, std::size_t) {
            error ? m_owner.onWriteFailed() : onWritten();
        });
}

void Outbox::onWritten() {
    m_unread -= m_waiting.front().size();
    m_waiting.pop_front();
    if (m_isSlow && m_unread <= m_mostUnread / 2) {
        m_isSlow = false;
        m_owner.onPressure(false);
    }
    if (m_waiting.empty()) {
        m_owner.onAllWritten();
    } else {
        writeNext();
    }
}

}  // namespace quern::app
