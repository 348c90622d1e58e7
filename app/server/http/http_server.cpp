#include "app/server/http/http_server.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "app/server/http/http_core.h"

namespace quern::app {

HttpServer::HttpServer(std::shared_ptr<HttpCore> core) : m_core(std::move(core)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(
    const std::string& host, std::uint16_t port, const HttpLimits& limits, ExchangeHandler handler,
    std::function<std::string(int, const std::string&)> makeError) {
    auto core = std::make_shared<HttpCore>(limits, std::move(handler), std::move(makeError));
    if (auto listening = core->listen(host, port); !listening) {
        return forward(listening);
    }
    core->run();
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

HttpServer::~HttpServer() {
    stopAccepting();
    m_core->post([core = m_core] { core->closeSessions(false); });
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

void HttpServer::endKeepAlive() {
    m_core->isStopping = true;
}

void HttpServer::stopAccepting() {
    endKeepAlive();
    boost::asio::post(m_core->context, [core = m_core] {
        boost::system::error_code ignored;
        core->acceptor.close(ignored);
        core->closeSessions(true);
    });
}

void HttpServer::endExchanges() {
    m_core->post([core = m_core] { core->endExchanges(); });
}

bool HttpServer::waitUntilIdle(std::chrono::milliseconds grace) {
    std::unique_lock lock(m_core->mutex);
    return m_core->idle.wait_for(lock, grace, [this] { return m_core->exchanges == 0; });
}

void HttpServer::closeConnections() {
    m_core->post([core = m_core] { core->closeSessions(false); });
    std::unique_lock lock(m_core->mutex);
    m_core->idle.wait(lock, [this] { return m_core->exchanges == 0; });
}

}  // namespace quern::app
