#include "app/server/http/http_core.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "app/server/http/http_session.h"
#include "app/server/http/port_holder.h"

namespace quern::app {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

HttpCore::HttpCore(const HttpLimits& limitsGiven, ExchangeHandler handlerGiven,
                   std::function<std::string(int, const std::string&)> makeErrorGiven)
    : limits(limitsGiven),
      handler(std::move(handlerGiven)),
      makeError(std::move(makeErrorGiven)),
      acceptor(context) {}

void HttpCore::run() {
    accept();
    thread = std::jthread([this] { context.run(); });
}

Status HttpCore::listen(const std::string& host, std::uint16_t wantedPort) {
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
                                              "; choose another port");
    }
    if (error) {
        return fail(ErrorCode::kIo, "cannot listen on " + host + ":" + std::to_string(wantedPort),
                    error.message());
    }
    port = acceptor.local_endpoint(error).port();
    return {};
}

void HttpCore::accept() {
    acceptor.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
        if (!self->acceptor.is_open()) {
            return;
        }
        if (!error) {
            // Over the limit the connection is closed at once: nothing can be said without reading.
            if (self->connectionCount < self->limits.connections) {
                std::make_shared<HttpSession>(self, std::move(socket))->readRequest();
            }
        }
        self->accept();
    });
}

void HttpCore::post(std::function<void()> work) {
    const std::lock_guard lock(mutex);
    if (m_takesWork) {
        asio::post(context, std::move(work));
    }
}

// Work holds sessions, sessions hold this core: what nobody would run any more must not stay
// queued.
void HttpCore::endPosting() {
    {
        const std::lock_guard lock(mutex);
        m_takesWork = false;
    }
    context.restart();
    context.poll();
}

void HttpCore::add(HttpSession& session) {
    m_sessions.insert(&session);
    ++connectionCount;
}

void HttpCore::remove(HttpSession& session) {
    m_sessions.erase(&session);
    --connectionCount;
}

void HttpCore::closeSessions(bool onlyIdle) {
    for (const auto& session : allSessions()) {
        if (!onlyIdle || !session->isAnswering()) {
            session->close();
        }
    }
}

void HttpCore::endExchanges() {
    for (const auto& session : allSessions()) {
        session->askForEnd();
    }
}

// A session that closes takes itself out of the set.
std::vector<std::shared_ptr<HttpSession>> HttpCore::allSessions() const {
    std::vector<std::shared_ptr<HttpSession>> all;
    for (HttpSession* session : m_sessions) {
        all.push_back(session->shared_from_this());
    }
    return all;
}

void HttpCore::exchangeBegan() {
    const std::lock_guard lock(mutex);
    ++exchanges;
}

void HttpCore::exchangeEnded() {
    const std::lock_guard lock(mutex);
    --exchanges;
    idle.notify_all();
}

}  // namespace quern::app
