#include "app/server/http/http_session.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <utility>

#include "app/server/http/http_text.h"

namespace quern::app {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t kReadAheadBytes = 4096;
constexpr std::size_t kDiscardBytes = 65536;
constexpr std::chrono::milliseconds kLinger{2000};

/// What a client is told whose request could not be read.
struct Unreadable {
    int status = 0;  // 0: nothing; it went away, or took too long
    std::string message;
};

Unreadable unreadable(const boost::system::error_code& error, const HttpLimits& limits,
                      bool hasRequestLine) {
    if (error == http::error::body_limit) {
        return {413, "the body is larger than " + std::to_string(limits.bodyBytes) + " bytes"};
    }
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        const std::string most = std::to_string(limits.headerBytes) + " bytes";
        return hasRequestLine ? Unreadable{431, "the headers are larger than " + most}
                              : Unreadable{414, "the request line is longer than " + most};
    }
    const bool isHttp =
        error.category() == http::make_error_code(http::error::bad_method).category();
    if (isHttp && error != http::error::end_of_stream && error != http::error::partial_message) {
        return {400, "this is not HTTP: " + error.message()};
    }
    return {};
}

}  // namespace

HttpSession::HttpSession(std::shared_ptr<HttpCore> core, tcp::socket socket)
    : m_core(std::move(core)),
      m_socket(std::move(socket)),
      m_outbox(m_socket, m_core->limits.unreadBytes, *this),
      m_deadline(m_core->context),
      m_pingTimer(m_core->context) {
    error_code ignored;
    m_socket.set_option(tcp::no_delay(true), ignored);
    const auto peer = m_socket.remote_endpoint(ignored);
    m_client = ignored ? std::string() : peer.address().to_string();
    m_core->add(*this);
}

void HttpSession::readRequest() {
    m_parser.emplace();
    m_parser->header_limit(static_cast<std::uint32_t>(m_core->limits.headerBytes));
    m_parser->body_limit(m_core->limits.bodyBytes);
    closeAfter(m_hasServed ? m_core->limits.idleTimeout : m_core->limits.headerTimeout);
    http::async_read_header(
        m_socket, m_buffer, *m_parser,
        [self = shared_from_this()](error_code error, std::size_t) { self->onHeader(error); });
}

void HttpSession::close() {
    if (m_isClosed) {
        return;
    }
    m_isClosed = true;
    m_core->remove(*this);
    error_code ignored;
    m_socket.shutdown(tcp::socket::shutdown_both, ignored);
    m_socket.close(ignored);
    m_deadline.cancel();
    m_pingTimer.cancel();
    if (m_isAnswering) {
        if (auto handler = std::exchange(m_closedHandler, {})) {
            handler();
        }
        endExchange();  // whoever waits for it finds the handler's work done
    }
}

void HttpSession::setHeader(const std::string& name, const std::string& value) {
    m_extraHeaders += headerLine(name, value);
}

void HttpSession::respond(HttpResponse response) {
    std::string answer =
        answerHead(response.status, response.contentType, m_keepsAlive) + m_extraHeaders;
    for (const auto& [name, value] : response.headers) {
        answer += headerLine(name, value);
    }
    answer += headerLine("Content-Length", std::to_string(response.body.size())) + "\r\n";
    if (m_request.method != "HEAD") {
        answer += response.body;
    }
    m_isLastWrite = true;
    send(std::move(answer));
}

void HttpSession::startStream(const std::string& contentType) {
    m_isChunked = m_version >= 11;
    m_isStreaming = true;
    std::string head = answerHead(200, contentType, m_keepsAlive) + m_extraHeaders +
                       headerLine("Cache-Control", "no-cache");
    head += m_isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
    m_keepsAlive = m_keepsAlive && m_isChunked;
    send(std::move(head));
    schedulePing();
}

void HttpSession::write(std::string bytes) {
    m_wroteSincePing = true;
    send(m_isChunked ? asChunk(bytes) : std::move(bytes));
}

void HttpSession::endStream() {
    m_isStreaming = false;
    m_pingTimer.cancel();
    m_isLastWrite = true;
    send(m_isChunked ? "0\r\n\r\n" : "");
}

void HttpSession::setClosedHandler(std::function<void()> handler) {
    if (m_isClosed) {
        handler();
        return;
    }
    m_closedHandler = std::move(handler);
}

void HttpSession::setEndHandler(std::function<void()> handler) {
    m_endHandler = std::move(handler);
}

void HttpSession::askForEnd() {
    if (auto handler = std::exchange(m_endHandler, {})) {
        handler();
    }
}

void HttpSession::setPressureHandler(std::function<void(bool)> handler) {
    m_pressureHandler = std::move(handler);
}

void HttpSession::post(std::function<void()> work) {
    m_core->post([self = shared_from_this(), work = std::move(work)] { work(); });
}

void HttpSession::onHeader(error_code error) {
    if (error) {
        refuse(error);
        return;
    }
    // A client that waits for permission to send its body gets it, or the refusal right away.
    if (boost::beast::iequals(m_parser->get()[http::field::expect], "100-continue")) {
        static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
        asio::async_write(m_socket, asio::buffer(kContinue),
                          [self = shared_from_this()](error_code failed, std::size_t) {
                              failed ? self->close() : self->readBody();
                          });
        return;
    }
    readBody();
}

void HttpSession::readBody() {
    closeAfter(m_core->limits.idleTimeout);
    http::async_read(m_socket, m_buffer, *m_parser,
                     [self = shared_from_this()](error_code error, std::size_t) {
                         error ? self->refuse(error) : self->handle();
                     });
}

void HttpSession::handle() {
    m_deadline.cancel();
    auto message = m_parser->release();
    m_version = message.version();
    m_keepsAlive = message.keep_alive() && !m_core->isStopping;
    auto request = takeRequest(message, m_client);
    if (!request) {
        refuse(400, request.error().message);
        return;
    }
    m_request = std::move(*request);
    beginExchange();
    readAhead();
    m_core->handler(shared_from_this());
}

// Errors before there is a request to hand over.
void HttpSession::refuse(error_code error) {
    if (m_isClosed) {
        return;
    }
    const Unreadable why = unreadable(error, m_core->limits, !m_parser->get().target().empty());
    if (why.status == 0) {
        close();
        return;
    }
    refuse(why.status, why.message);
}

void HttpSession::refuse(int status, const std::string& message) {
    m_version = 11;
    m_keepsAlive = false;
    m_isRefusing = true;
    m_request = HttpRequest{};
    beginExchange();
    respond({.status = status,
             .contentType = "application/json",
             .body = m_core->makeError(status, message),
             .headers = {}});
}

void HttpSession::send(std::string bytes) {
    if (!m_isClosed) {
        m_outbox.push(std::move(bytes));
    }
}

void HttpSession::onPressure(bool isSlow) {
    if (isSlow) {
        closeAfter(m_core->limits.stalled);
    } else {
        m_deadline.cancel();
    }
    if (m_pressureHandler) {
        m_pressureHandler(isSlow);
    }
}

void HttpSession::onAllWritten() {
    if (!m_isLastWrite || m_isClosed) {
        return;
    }
    endExchange();
    if (m_isRefusing) {
        error_code ignored;
        m_socket.shutdown(tcp::socket::shutdown_send, ignored);
        closeAfter(kLinger);
        discard();
        return;
    }
    if (!m_keepsAlive || m_core->isStopping) {
        close();
        return;
    }
    m_hasServed = true;
    if (m_isReadingAhead) {
        error_code ignored;
        m_socket.cancel(ignored);  // goes on in its handler
    } else {
        readNext();
    }
}

// A client that has said all it will may have said more than one request.
void HttpSession::readNext() {
    if (m_hasPeerEnded && m_buffer.size() == 0) {
        close();
    } else {
        readRequest();
    }
}

void HttpSession::beginExchange() {
    m_isAnswering = true;
    m_isLastWrite = false;
    m_isChunked = false;
    m_outbox.restart();
    m_extraHeaders.clear();
    m_core->exchangeBegan();
}

void HttpSession::endExchange() {
    if (m_isAnswering) {
        m_isAnswering = false;
        m_pressureHandler = {};
        m_endHandler = {};
        m_closedHandler = {};
        m_core->exchangeEnded();
    }
}

// While an answer is made the connection is read on: only so a client's going away is seen behind a
// line end or a next request that came early. What comes is kept for readRequest().
void HttpSession::readAhead() {
    if (m_hasPeerEnded) {  // an end is read once
        asio::post(m_core->context, [self = shared_from_this()] { self->onPeerEnded(); });
        return;
    }
    if (m_buffer.size() >= m_core->limits.headerBytes) {
        return;  // a client with that much to say is seen to go when writing fails
    }
    m_isReadingAhead = true;
    m_socket.async_read_some(m_buffer.prepare(kReadAheadBytes),
                             [self = shared_from_this()](error_code error, std::size_t bytes) {
                                 self->m_isReadingAhead = false;
                                 self->m_buffer.commit(bytes);
                                 if (self->m_isClosed) {
                                     return;
                                 }
                                 self->m_hasPeerEnded = error == asio::error::eof;
                                 if (!self->m_isAnswering) {
                                     self->readNext();  // the answer was done first
                                 } else if (error == asio::error::eof) {
                                     self->onPeerEnded();
                                 } else if (error && error != asio::error::operation_aborted) {
                                     self->close();
                                 } else {
                                     self->readAhead();
                                 }
                             });
}

// The client sends nothing any more. One that has only ended its side (as nc -N does) waits for the
// answer; one that is gone looks the same, but its system answers whatever is sent with a reset. So
// something is sent that means nothing: a comment in a stream, or an interim response, which every
// client of HTTP/1.1 must read over (RFC 9110, 15.2). Older ones know none and count as gone.
void HttpSession::onPeerEnded() {
    if (!m_isAnswering || m_isLastWrite) {
        return;  // the answer itself tells
    }
    if (!m_isStreaming && m_version < 11) {
        close();
        return;
    }
    if (!std::exchange(m_isWatchingReset, true)) {
        m_socket.async_wait(tcp::socket::wait_error, [self = shared_from_this()](error_code error) {
            self->m_isWatchingReset = false;
            if (!error) {
                self->close();
            }
        });
    }
    ping();
    schedulePing();
}

void HttpSession::ping() {
    static constexpr const char* kComment = ": ping\n\n";
    send(!m_isStreaming ? "HTTP/1.1 100 Continue\r\n\r\n"
         : m_isChunked  ? asChunk(kComment)
                        : kComment);
}

// A socket that is closed with bytes unread resets the connection, and the client may lose the
// answer it has not read yet. So the rest of a request that was refused is read for a while.
void HttpSession::discard() {
    m_buffer.clear();
    m_socket.async_read_some(m_buffer.prepare(kDiscardBytes),
                             [self = shared_from_this()](error_code error, std::size_t) {
                                 error || self->m_isClosed ? self->close() : self->discard();
                             });
}

void HttpSession::schedulePing() {
    m_pingTimer.expires_after(m_core->limits.pingEvery);
    m_pingTimer.async_wait([self = shared_from_this()](error_code error) {
        const bool isDue = self->m_isStreaming || self->m_hasPeerEnded;
        if (error || self->m_isClosed || !self->m_isAnswering || self->m_isLastWrite || !isDue) {
            return;
        }
        if (!std::exchange(self->m_wroteSincePing, false)) {
            self->ping();
        }
        self->schedulePing();
    });
}

void HttpSession::closeAfter(std::chrono::milliseconds time) {
    m_deadline.set(time, [self = shared_from_this()] { self->close(); });
}

}  // namespace quern::app
