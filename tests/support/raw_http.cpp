#include "tests/support/raw_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <stdexcept>

namespace quern::test {

RawConnection::RawConnection(std::uint16_t port) : m_socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const timeval patience{10, 0};
    ::setsockopt(m_socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(m_socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        throw std::runtime_error("cannot connect to port " + std::to_string(port));
    }
}

RawConnection::~RawConnection() {
    close();
}

void RawConnection::endSending() {
    ::shutdown(m_socket, SHUT_WR);
}

void RawConnection::close() {
    if (m_socket >= 0) {
        ::close(m_socket);
        m_socket = -1;
    }
}

void RawConnection::send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t count =
            ::send(m_socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) {
            return;
        }
        sent += static_cast<std::size_t>(count);
    }
}

bool RawConnection::receive() {
    char bytes[65536];
    const ssize_t count = ::recv(m_socket, bytes, sizeof bytes, 0);
    if (count <= 0) {
        m_hasPeerEnded = count == 0;
        return false;
    }
    m_buffer.append(bytes, static_cast<std::size_t>(count));
    return true;
}

std::string RawConnection::readUntil(const std::string& end) {
    std::size_t searched = 0;
    std::size_t found = std::string::npos;
    while (true) {
        if (!end.empty()) {
            found = m_buffer.find(end, searched);
            searched = m_buffer.size() < end.size() ? 0 : m_buffer.size() - end.size() + 1;
        }
        if (found != std::string::npos || !receive()) {
            break;
        }
    }
    const std::size_t size = found == std::string::npos ? m_buffer.size() : found + end.size();
    std::string text = m_buffer.substr(0, size);
    m_buffer.erase(0, size);
    return text;
}

std::string RawConnection::readAnswer() {
    std::string head = readUntil("\r\n\r\n");
    const std::string name = "Content-Length: ";
    const auto found = head.find(name);
    if (found == std::string::npos) {
        return head;
    }
    const std::size_t length = std::stoul(head.substr(found + name.size()));
    while (m_buffer.size() < length && receive()) {
    }
    head += m_buffer.substr(0, length);
    m_buffer.erase(0, length);
    return head;
}

std::string httpRequest(const std::string& method, const std::string& path, const std::string& body,
                        const std::string& headers) {
    return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

int statusOf(const std::string& answer) {
    return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}

std::string bodyOf(const std::string& answer) {
    const auto end = answer.find("\r\n\r\n");
    return end == std::string::npos ? std::string() : answer.substr(end + 4);
}

}  // namespace quern::test
