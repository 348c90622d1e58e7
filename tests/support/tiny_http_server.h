#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace quern::test {

/// An HTTP/1.1 server on a loopback port of its own, one connection at a time: `answer` gets the
/// whole request head and gives the whole response, status line and all. The connection is closed
/// after it.
class TinyHttpServer {
public:
    explicit TinyHttpServer(std::function<std::string(const std::string& request)> answer);
    ~TinyHttpServer();
    TinyHttpServer(const TinyHttpServer&) = delete;
    TinyHttpServer& operator=(const TinyHttpServer&) = delete;
    [[nodiscard]] std::string url(const std::string& path) const;

private:
    int m_socket = -1;
    std::uint16_t m_port = 0;
    std::jthread m_thread;
};

}  // namespace quern::test
