#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/server/http/exchange.h"
#include "kernels/result.h"

namespace quern::app {

struct HttpLimits {
    std::size_t headerBytes = 32 * 1024;
    std::size_t bodyBytes = 8 * 1024 * 1024;
    std::size_t connections = 1024;
    std::size_t unreadBytes = 256 * 1024;      // more than this makes a client slow …
    std::chrono::milliseconds stalled{30000};  // … and this long of it ends the exchange
    std::chrono::milliseconds headerTimeout{10000};
    std::chrono::milliseconds idleTimeout{60000};
    std::chrono::milliseconds pingEvery{15000};  // a comment in silent event streams
};

struct HttpFigures {
    std::size_t connections = 0;
    std::size_t exchanges = 0;  // being answered now
};

class HttpCore;

/// HTTP/1.1 on one TCP port: parsing, limits, keep-alive, streams; what is said is the handler's
/// business. One I/O thread of its own, on which the handler is called.
class HttpServer {
public:
    /// `host` is an address or a name; port 0 takes a free one. `makeError` builds the body of
    /// errors that never reach the handler (too large, malformed). kConflict names who has the
    /// port.
    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(
        const std::string& host, std::uint16_t port, const HttpLimits& limits,
        ExchangeHandler handler,
        std::function<std::string(int status, const std::string& message)> makeError);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] HttpFigures figures() const;
    /// From now on an answer is the last one of its connection. Any thread.
    void endKeepAlive();
    /// No new connections, and no second request on those there are. Any thread.
    void stopAccepting();
    /// Asks the answers that are not complete to come to an end (Exchange::setEndHandler). Any
    /// thread.
    void endExchanges();
    /// Waits until no exchange is left, at most `grace`. True when none is.
    [[nodiscard]] bool waitUntilIdle(std::chrono::milliseconds grace);
    /// Closes all connections, which ends what is answered on them. Any thread but the I/O thread.
    void closeConnections();

private:
    explicit HttpServer(std::shared_ptr<HttpCore> core);
    std::shared_ptr<HttpCore> m_core;
};

}  // namespace quern::app
