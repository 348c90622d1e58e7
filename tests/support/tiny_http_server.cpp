#include "tests/support/tiny_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace quern::test {

namespace {

std::string readHead(int connection) {
    std::string head;
    char byte = 0;
    while (head.find("\r\n\r\n") == std::string::npos && ::recv(connection, &byte, 1, 0) == 1) {
        head += byte;
    }
    return head;
}

void sendAll(int connection, const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t count =
            ::send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) {
            return;
        }
        sent += static_cast<std::size_t>(count);
    }
}

}  // namespace

TinyHttpServer::TinyHttpServer(std::function<std::string(const std::string&)> answer)
    : m_socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(m_socket, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(m_socket, 8) != 0 ||
        ::getsockname(m_socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("cannot listen on loopback");
    }
    m_port = ntohs(address.sin_port);
    m_thread = std::jthread([this, answer = std::move(answer)](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const int connection = ::accept(m_socket, nullptr, nullptr);
            if (connection < 0) {
                return;
            }
            sendAll(connection, answer(readHead(connection)));
            ::shutdown(connection, SHUT_RDWR);
            ::close(connection);
        }
    });
}

TinyHttpServer::~TinyHttpServer() {
    m_thread.request_stop();
    ::shutdown(m_socket, SHUT_RDWR);  // wakes accept
    m_thread.join();
    ::close(m_socket);
}

std::string TinyHttpServer::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(m_port) + path;
}

}  // namespace quern::test
