#include "app/wiring/desktop/hosted_server.h"

#include <utility>

namespace quern::app {
namespace {
constexpr std::chrono::milliseconds kGrace{1000};
}

Status HostedServer::start(const ui::ServerSettings& settings) {
    const std::lock_guard lock(m_mutex);
    if (m_server) {
        return {};
    }
    ServerOptions options;
    options.host = settings.host;
    options.port = settings.port;
    if (!settings.apiKey.empty()) {
        options.apiKeys = {settings.apiKey};
    }
    Result<std::unique_ptr<Server>> started = Server::start(m_engine, options);
    if (!started) {
        return forward(started);
    }
    m_server = std::move(*started);
    return {};
}

void HostedServer::stop() {
    std::unique_ptr<Server> server;
    {
        const std::lock_guard lock(m_mutex);
        server = std::move(m_server);
    }
    if (server) {
        server->stop(kGrace);
    }
}

ui::ServerStatus HostedServer::status() const {
    const std::lock_guard lock(m_mutex);
    if (!m_server) {
        return {};
    }
    const ServerFigures figures = m_server->figures();
    return {.isRunning = true,
            .address = m_server->url(),
            .connections = static_cast<std::int64_t>(figures.connections),
            .requestsServed = static_cast<std::int64_t>(figures.served),
            .requestsActive = static_cast<std::int64_t>(figures.answering)};
}

}  // namespace quern::app
