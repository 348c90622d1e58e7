#pragma once

#include <memory>
#include <mutex>

#include "app/server/server.h"
#include "ui/ports/server_control.h"

namespace quern::app {

/// The endpoint as the window switches it. Internally locked.
class HostedServer : public ui::ServerControl {
public:
    /// `engine` must outlive it.
    explicit HostedServer(engine::Engine& engine) : m_engine(engine) {}

    [[nodiscard]] Status start(const ui::ServerSettings& settings) override;
    void stop() override;
    [[nodiscard]] ui::ServerStatus status() const override;

private:
    engine::Engine& m_engine;
    mutable std::mutex m_mutex;
    std::unique_ptr<Server> m_server;
};

}  // namespace quern::app
