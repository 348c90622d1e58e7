#pragma once

#include <cstdint>
#include <string>

namespace quern::test {

/// A TCP connection to a loopback port, for tests that say bytes and read bytes.
class RawConnection {
public:
    explicit RawConnection(std::uint16_t port);
    ~RawConnection();
    RawConnection(const RawConnection&) = delete;
    RawConnection& operator=(const RawConnection&) = delete;

    void send(const std::string& bytes);
    /// Reads until `end` has come, the peer closes, or ten seconds pass. Returns all that came.
    [[nodiscard]] std::string readUntil(const std::string& end);
    [[nodiscard]] std::string readAll() { return readUntil(""); }
    /// One whole answer: head and, by its Content-Length, body.
    [[nodiscard]] std::string readAnswer();
    /// Whether the last read ended because the peer closed, not because time was up.
    [[nodiscard]] bool hasPeerEnded() const { return m_hasPeerEnded; }
    /// Ends its own side; answers can still be read.
    void endSending();
    void close();

private:
    [[nodiscard]] bool receive();
    int m_socket = -1;
    std::string m_buffer;
    bool m_hasPeerEnded = false;
};

/// A request's text with Host and Content-Length.
[[nodiscard]] std::string httpRequest(const std::string& method, const std::string& path,
                                      const std::string& body = "",
                                      const std::string& headers = "");
[[nodiscard]] int statusOf(const std::string& answer);
[[nodiscard]] std::string bodyOf(const std::string& answer);

}  // namespace quern::test
