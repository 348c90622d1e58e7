#pragma once

#include <cstdint>
#include <string>

#include "kernels/result.h"

namespace quern::ui {

struct ServerSettings {
    std::string host = "127.0.0.1";
    std::uint16_t port = 11535;
    std::string apiKey;  // empty: none is asked for
};

struct ServerStatus {
    bool isRunning = false;
    std::string address;  // "http://127.0.0.1:11535", while it runs
    std::int64_t connections = 0;
    std::int64_t requestsServed = 0;
    std::int64_t requestsActive = 0;
};

/// The OpenAI-compatible endpoint. Called from one worker thread, never the GUI's.
class ServerControl {
public:
    virtual ~ServerControl() = default;
    /// kConflict names the program that holds the port.
    [[nodiscard]] virtual Status start(const ServerSettings& settings) = 0;
    virtual void stop() = 0;
    [[nodiscard]] virtual ServerStatus status() const = 0;
};

}  // namespace quern::ui
