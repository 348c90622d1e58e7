#include "app/server/http/http_server.h"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "app/server/http/port_holder.h"

namespace quern::app {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

std::string_view reasonOf(int status) {
    const auto text = http::obsolete_reason(static_cast<http::status>(status));
    return {text.data(), text.size()};
}

std::string lowerCase(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return lower;
}

}  // namespace

/// What all sessions share. Lives as long as any of them; all but the marked members belong to the
/// I/O thread.
class HttpServer::Core : public std::enable_shared_from_this<HttpServer::Core> {
public:
    Core(HttpLimits limitsGiven, ExchangeHandler handlerGiven,
         std::function<std::string(int, const std::string&)> makeErrorGiven)
        : limits(limitsGiven),
          handler(std::move(handlerGiven)),
          makeError(std::move(makeErrorGiven)),
          acceptor(context) {}

    Status listen(const std::string& host, std::uint16_t wantedPort);
    void run() {
        accept();
        thread = std::jthread([this] { context.run(); });
    }
    void accept();
    /// Runs work on the I/O thread; drops it once that thread has ended. Any thread.
    void post(std::function<void()> work);
    void endPosting();
    void exchangeBegan();
    void exchangeEnded();

    HttpLimits limits;
    ExchangeHandler handler;
    std::function<std::string(int, const std::string&)> makeError;
    asio::io_context context{1};
    tcp::acceptor acceptor;
    std::uint16_t port = 0;
    std::set<Session*> sessions;
    std::jthread thread;
    std::atomic<bool> isStopping = false;          // any thread
    std::atomic<std::size_t> connectionCount = 0;  // any thread
    std::mutex mutex;                              // guards the two below
    std::condition_variable idle;
    std::size_t exchanges = 0;
    bool takesWork = true;
};

/// One connection: reads a request, hands it over, writes the answer, reads the next. Belongs to
/// the I/O thread.
class HttpServer::Session : public Exchange, public std::enable_shared_from_this<Session> {
public:
    Session(std::shared_ptr<HttpServer::Core> core, tcp::socket socket)
        : m_core(std::move(core)),
          m_socket(std::move(socket)),
          m_timer(m_core->context),
          m_pingTimer(m_core->context) {
        error_code ignored;
        m_socket.set_option(tcp::no_delay(true), ignored);
        const auto peer = m_socket.remote_endpoint(ignored);
        m_client = ignored ? std::string() : peer.address().to_string();
        m_core->sessions.insert(this);
        ++m_core->connectionCount;
    }

    // May run on any thread: whoever held the exchange last. close() has done the rest.
    ~Session() override = default;

    void readRequest() {
        m_parser.emplace();
        m_parser->header_limit(static_cast<std::uint32_t>(m_core->limits.headerBytes));
        m_parser->body_limit(m_core->limits.bodyBytes);
        expireAfter(m_hasServed ? m_core->limits.idleTimeout : m_core->limits.headerTimeout);
        http::async_read_header(
            m_socket, m_buffer, *m_parser,
            [self = shared_from_this()](error_code error, std::size_t) { self->onHeader(error); });
    }

    void close() {
        if (m_isClosed) {
            return;
        }
        m_isClosed = true;
        m_core->sessions.erase(this);
        --m_core->connectionCount;
        error_code ignored;
        m_socket.shutdown(tcp::socket::shutdown_both, ignored);
        m_socket.close(ignored);
        cancelTimer();
        m_pingTimer.cancel();
        if (m_isAnswering) {
            endExchange();
            if (auto handler = std::exchange(m_closedHandler, {})) {
                handler();
            }
        }
    }

    [[nodiscard]] bool isAnswering() const { return m_isAnswering; }

    const HttpRequest& request() const override { return m_request; }

    void setHeader(const std::string& name, const std::string& value) override {
        m_extraHeaders += name + ": " + value + "\r\n";
    }

    void respond(HttpResponse response) override {
        std::string head = headOf(response.status, response.contentType);
        for (const auto& [name, value] : response.headers) {
            head += name + ": " + value + "\r\n";
        }
        head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
        if (m_request.method != "HEAD") {
            head += response.body;
        }
        m_isLastWrite = true;
        enqueue(std::move(head));
    }

    void startStream(const std::string& contentType) override {
        m_isChunked = m_version >= 11;
        m_isStreaming = true;
        std::string head = headOf(200, contentType);
        head += "Cache-Control: no-cache\r\n";
        head += m_isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
        m_keepsAlive = m_keepsAlive && m_isChunked;
        enqueue(std::move(head));
        schedulePing();
    }

    void write(std::string bytes) override {
        m_wroteSincePing = true;
        enqueue(framed(bytes));
    }

    void endStream() override {
        m_isStreaming = false;
        m_pingTimer.cancel();
        m_isLastWrite = true;
        enqueue(m_isChunked ? "0\r\n\r\n" : "");
    }

    void setClosedHandler(std::function<void()> handler) override {
        if (m_isClosed) {
            handler();
            return;
        }
        m_closedHandler = std::move(handler);
    }

    void setPressureHandler(std::function<void(bool)> handler) override {
        m_pressureHandler = std::move(handler);
    }

    void post(std::function<void()> work) override {
        m_core->post([self = shared_from_this(), work = std::move(work)] { work(); });
    }

private:
    void onHeader(error_code error) {
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

    void readBody() {
        expireAfter(m_core->limits.idleTimeout);
        http::async_read(m_socket, m_buffer, *m_parser,
                         [self = shared_from_this()](error_code error, std::size_t) {
                             error ? self->refuse(error) : self->handle();
                         });
    }

    void handle() {
        cancelTimer();
        auto message = m_parser->release();
        m_version = message.version();
        m_keepsAlive = message.keep_alive() && !m_core->isStopping;
        m_request = HttpRequest{};
        m_request.method = std::string(message.method_string());
        const std::string target(message.target());
        const auto question = target.find('?');
        m_request.path = target.substr(0, question);
        m_request.query = question == std::string::npos ? "" : target.substr(question + 1);
        for (const auto& field : message) {
            m_request.headers.emplace_back(
                lowerCase({field.name_string().data(), field.name_string().size()}),
                std::string(field.value()));
        }
        m_request.body = std::move(message.body());
        m_request.client = m_client;
        beginExchange();
        watchForClose();
        m_core->handler(shared_from_this());
    }

    // Errors before there is a request to hand over.
    void refuse(error_code error) {
        if (m_isClosed) {
            return;
        }
        int status = 0;
        std::string text;
        if (error == http::error::body_limit) {
            status = 413;
            text = "the body is larger than " + std::to_string(m_core->limits.bodyBytes) + " bytes";
        } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
            status = 431;
            text = "the headers are larger than " + std::to_string(m_core->limits.headerBytes) +
                   " bytes";
        } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
                   error != http::error::end_of_stream && error != http::error::partial_message) {
            status = 400;
            text = "this is not HTTP: " + error.message();
        }
        if (status == 0) {
            close();
            return;
        }
        m_version = 11;
        m_keepsAlive = false;
        m_request = HttpRequest{};
        beginExchange();
        respond({.status = status,
                 .contentType = "application/json",
                 .body = m_core->makeError(status, text),
                 .headers = {}});
    }

    std::string headOf(int status, const std::string& contentType) const {
        std::string head = "HTTP/1.1 " + std::to_string(status) + " ";
        head += reasonOf(status);
        head += "\r\nContent-Type: " + contentType + "\r\n";
        head += m_keepsAlive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
        return head + m_extraHeaders;
    }

    std::string framed(const std::string& bytes) const {
        if (!m_isChunked || bytes.empty()) {
            return bytes;
        }
        char size[20];
        std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
        return size + bytes + "\r\n";
    }

    void enqueue(std::string bytes) {
        if (m_isClosed) {
            return;
        }
        m_unread += bytes.size();
        m_outbox.push_back(std::move(bytes));
        if (!m_isSlow && m_unread > m_core->limits.unreadBytes) {
            m_isSlow = true;
            expireAfter(m_core->limits.stalled);
            if (m_pressureHandler) {
                m_pressureHandler(true);
            }
        }
        if (m_outbox.size() == 1) {
            writeNext();
        }
    }

    void writeNext() {
        asio::async_write(
            m_socket, asio::buffer(m_outbox.front()),
            [self = shared_from_this()](error_code error, std::size_t) { self->onWritten(error); });
    }

    void onWritten(error_code error) {
        if (error || m_isClosed) {
            close();
            return;
        }
        m_unread -= m_outbox.front().size();
        m_outbox.pop_front();
        if (m_isSlow && m_unread <= m_core->limits.unreadBytes / 2) {
            m_isSlow = false;
            cancelTimer();
            if (m_pressureHandler) {
                m_pressureHandler(false);
            }
        }
        if (!m_outbox.empty()) {
            writeNext();
            return;
        }
        if (m_isLastWrite) {
            finishExchange();
        }
    }

    void finishExchange() {
        endExchange();
        if (!m_keepsAlive || m_core->isStopping) {
            close();
            return;
        }
        m_hasServed = true;
        readRequest();
    }

    void beginExchange() {
        m_isAnswering = true;
        m_isLastWrite = false;
        m_isChunked = false;
        m_isSlow = false;
        m_extraHeaders.clear();
        m_core->exchangeBegan();
    }

    void endExchange() {
        if (m_isAnswering) {
            m_isAnswering = false;
            m_pressureHandler = {};
            if (!m_isClosed) {
                m_closedHandler = {};
            }
            m_core->exchangeEnded();
        }
    }

    // While an answer is made, the socket becomes readable when the client goes away, or when it
    // sends its next request early: a look at the first byte tells which.
    void watchForClose() {
        m_socket.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
            if (error || !self->m_isAnswering || self->m_isClosed) {
                return;
            }
            char byte = 0;
            const auto seen =
                ::recv(self->m_socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            if (seen == 0 || (seen < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) {
                self->close();
            }
        });
    }

    void schedulePing() {
        m_pingTimer.expires_after(m_core->limits.pingEvery);
        m_pingTimer.async_wait([self = shared_from_this()](error_code error) {
            if (error || self->m_isClosed || !self->m_isStreaming) {
                return;
            }
            if (!std::exchange(self->m_wroteSincePing, false)) {
                self->enqueue(self->framed(": ping\n\n"));
            }
            self->schedulePing();
        });
    }

    void expireAfter(std::chrono::milliseconds time) {
        m_timer.expires_after(time);
        // A wait that ended just before it was cancelled still reports success: its turn is over.
        m_timer.async_wait([self = shared_from_this(), turn = ++m_timerTurn](error_code error) {
            if (!error && turn == self->m_timerTurn) {
                self->close();
            }
        });
    }

    void cancelTimer() {
        ++m_timerTurn;
        m_timer.cancel();
    }

    std::shared_ptr<HttpServer::Core> m_core;
    tcp::socket m_socket;
    asio::steady_timer m_timer;  // header, idle or stall: one of them at a time
    std::uint64_t m_timerTurn = 0;
    asio::steady_timer m_pingTimer;
    boost::beast::flat_buffer m_buffer;
    std::optional<http::request_parser<http::string_body>> m_parser;
    HttpRequest m_request;
    std::string m_client;
    std::string m_extraHeaders;  // of the answer, each with its line end
    unsigned m_version = 11;
    std::deque<std::string> m_outbox;
    std::size_t m_unread = 0;
    std::function<void()> m_closedHandler;
    std::function<void(bool)> m_pressureHandler;
    bool m_keepsAlive = true;
    bool m_isChunked = false;
    bool m_isStreaming = false;
    bool m_isAnswering = false;
    bool m_isLastWrite = false;
    bool m_isSlow = false;
    bool m_isClosed = false;
    bool m_hasServed = false;
    bool m_wroteSincePing = false;
};

Status HttpServer::Core::listen(const std::string& host, std::uint16_t wantedPort) {
    error_code error;
    tcp::resolver resolver(context);
    const auto found =
        resolver.resolve(host, std::to_string(wantedPort),
                         tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error || found.empty()) {
        return failField("host", "'" + host + "' is no address of this machine");
    }
    const tcp::endpoint endpoint = *found.begin();
    acceptor.open(endpoint.protocol(), error);
    if (!error) {
        acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    }
    if (!error) {
        acceptor.bind(endpoint, error);
    }
    if (!error) {
        acceptor.listen(asio::socket_base::max_listen_connections, error);
    }
    if (error == asio::error::address_in_use) {
        const std::string holder = portHolder(wantedPort);
        return fail(ErrorCode::kConflict, "port " + std::to_string(wantedPort) + " is taken by " +
                                              (holder.empty() ? "another program" : holder) +
                                              "; choose another one with --port");
    }
    if (error) {
        return fail(ErrorCode::kIo, "cannot listen on " + host + ":" + std::to_string(wantedPort),
                    error.message());
    }
    port = acceptor.local_endpoint(error).port();
    return {};
}

void HttpServer::Core::accept() {
    acceptor.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
        if (self->isStopping || error == asio::error::operation_aborted) {
            return;
        }
        if (!error) {
            // Over the limit the connection is closed at once: nothing can be said without reading.
            if (self->connectionCount < self->limits.connections) {
                std::make_shared<Session>(self, std::move(socket))->readRequest();
            }
        }
        self->accept();
    });
}

void HttpServer::Core::post(std::function<void()> work) {
    const std::lock_guard lock(mutex);
    if (takesWork) {
        asio::post(context, std::move(work));
    }
}

// Work holds sessions, sessions hold this core: what nobody would run any more must not stay
// queued.
void HttpServer::Core::endPosting() {
    {
        const std::lock_guard lock(mutex);
        takesWork = false;
    }
    context.restart();
    context.poll();
}

void HttpServer::Core::exchangeBegan() {
    const std::lock_guard lock(mutex);
    ++exchanges;
}

void HttpServer::Core::exchangeEnded() {
    const std::lock_guard lock(mutex);
    --exchanges;
    idle.notify_all();
}

HttpServer::HttpServer(std::shared_ptr<Core> core) : m_core(std::move(core)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(
    const std::string& host, std::uint16_t port, const HttpLimits& limits, ExchangeHandler handler,
    std::function<std::string(int, const std::string&)> makeError) {
    auto core = std::make_shared<Core>(limits, std::move(handler), std::move(makeError));
    if (auto listening = core->listen(host, port); !listening) {
        return forward(listening);
    }
    core->run();
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

HttpServer::~HttpServer() {
    stopAccepting();
    asio::post(m_core->context, [core = m_core] {
        // A session that closes takes itself out of the set.
        const std::vector<Session*> all(core->sessions.begin(), core->sessions.end());
        for (Session* session : all) {
            const auto keep = session->shared_from_this();
            keep->close();
        }
    });
    if (m_core->thread.joinable()) {
        m_core->thread.join();  // ends when no session and no posted work is left
    }
    m_core->endPosting();
}

std::uint16_t HttpServer::port() const {
    return m_core->port;
}

HttpFigures HttpServer::figures() const {
    const std::lock_guard lock(m_core->mutex);
    return {.connections = m_core->connectionCount, .exchanges = m_core->exchanges};
}

void HttpServer::stopAccepting() {
    m_core->isStopping = true;
    asio::post(m_core->context, [core = m_core] {
        error_code ignored;
        core->acceptor.close(ignored);
        const std::vector<Session*> all(core->sessions.begin(), core->sessions.end());
        for (Session* session : all) {
            const auto keep = session->shared_from_this();
            if (!keep->isAnswering()) {
                keep->close();
            }
        }
    });
}

bool HttpServer::waitUntilIdle(std::chrono::milliseconds grace) {
    std::unique_lock lock(m_core->mutex);
    return m_core->idle.wait_for(lock, grace, [this] { return m_core->exchanges == 0; });
}

void HttpServer::post(std::function<void()> work) {
    m_core->post(std::move(work));
}

}  // namespace quern::app
