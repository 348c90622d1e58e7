#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/server/http/deadline.h"
#include "app/server/http/http_core.h"
#include "app/server/http/outbox.h"

namespace quern::app {

/// One connection: reads a request, hands it over, writes the answer, reads the next. Belongs to
/// the I/O thread; only its end may be on any: that of whoever held the exchange last.
class HttpSession : public Exchange,
                    public OutboxOwner,
                    public std::enable_shared_from_this<HttpSession> {
public:
    HttpSession(std::shared_ptr<HttpCore> core, boost::asio::ip::tcp::socket socket);

    void readRequest();
    void close();
    /// Tells whoever answers here to come to an end, if it wants to be told.
    void askForEnd();
    [[nodiscard]] bool isAnswering() const { return m_isAnswering; }

    const HttpRequest& request() const override { return m_request; }
    void setHeader(const std::string& name, const std::string& value) override;
    void respond(HttpResponse response) override;
    void startStream(const std::string& contentType) override;
    void write(std::string bytes) override;
    void endStream() override;
    void setClosedHandler(std::function<void()> handler) override;
    void setEndHandler(std::function<void()> handler) override;
    void setPressureHandler(std::function<void(bool)> handler) override;
    void post(std::function<void()> work) override;

private:
    using error_code = boost::system::error_code;

    std::shared_ptr<void> keepAlive() override { return shared_from_this(); }
    void onPressure(bool isSlow) override;
    void onAllWritten() override;
    void onWriteFailed() override { close(); }

    void onHeader(error_code error);
    void readBody();
    void handle();
    void refuse(error_code error);
    void refuse(int status, const std::string& message);
    void beginExchange();
    void endExchange();
    void send(std::string bytes);
    void readNext();
    void readAhead();
    void onPeerEnded();
    void ping();
    void schedulePing();
    void discard();
    void closeAfter(std::chrono::milliseconds time);

    std::shared_ptr<HttpCore> m_core;
    boost::asio::ip::tcp::socket m_socket;
    Outbox m_outbox;
    Deadline m_deadline;  // header, idle or stall: one of them at a time
    boost::asio::steady_timer m_pingTimer;
    boost::beast::flat_buffer m_buffer;
    std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> m_parser;
    HttpRequest m_request;
    std::string m_client;
    std::string m_extraHeaders;  // of the answer, each with its line end
    unsigned m_version = 11;
    std::function<void()> m_closedHandler;
    std::function<void()> m_endHandler;
    std::function<void(bool)> m_pressureHandler;
    bool m_keepsAlive = true;
    bool m_isChunked = false;
    bool m_isStreaming = false;
    bool m_isAnswering = false;
    bool m_isLastWrite = false;
    bool m_isReadingAhead = false;
    bool m_hasPeerEnded = false;  // it sends no more; whether it reads is asked by pings
    bool m_isWatchingReset = false;
    bool m_isRefusing = false;
    bool m_isClosed = false;
    bool m_hasServed = false;
    bool m_wroteSincePing = false;
};

}  // namespace quern::app
