#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "kernels/result.h"

namespace quern::app {

inline constexpr std::uint16_t kDefaultPort = 11535;

struct ServerOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = kDefaultPort;  // 0: a free one
    /// Empty: none is asked for, which is refused on any address but loopback.
    std::vector<std::string> apiKeys;
    /// Those who may also load and unload adapters. Empty: nobody where there are keys, else all.
    std::vector<std::string> adminKeys;
    std::size_t maxBodyBytes = 8 * 1024 * 1024;
    std::size_t maxConnections = 1024;
    std::chrono::milliseconds stalledClient{30000};
};

/// kInvalidArgument for a key that is empty and a host that may not be used without a key.
[[nodiscard]] Status checkServerOptions(const ServerOptions& options);

/// What the Server screen and the log show. No content.
struct ServerFigures {
    std::size_t connections = 0;
    std::size_t answering = 0;
    std::uint64_t served = 0;
    std::uint64_t failed = 0;  // status 400 and above
};

/// One answered request: the audit line. No content.
struct ServedRequest {
    std::int64_t timeMs = 0;  // since 1970
    std::string client;
    std::string method;
    std::string path;
    std::string model;
    int status = 0;
    std::int32_t promptTokens = 0;
    std::int32_t completionTokens = 0;
    double seconds = 0;
};

/// The OpenAI-compatible endpoint over an Engine, which must outlive it. Threads: one for I/O;
/// every method may be called from any thread.
class Server {
public:
    /// kConflict names who holds the port; kInvalidArgument as checkServerOptions. Answers from now
    /// on, whatever is loaded: what is not there yet is 503.
    [[nodiscard]] static Result<std::unique_ptr<Server>> start(engine::Engine& engine,
                                                               const ServerOptions& options);
    virtual ~Server() = default;
    [[nodiscard]] virtual std::string url() const = 0;  // "http://127.0.0.1:11535"
    [[nodiscard]] virtual std::uint16_t port() const = 0;
    [[nodiscard]] virtual ServerFigures figures() const = 0;
    /// The newest requests first, at most the last 200.
    [[nodiscard]] virtual std::vector<ServedRequest> recent() const = 0;
    /// Refuses new work with 503, lets running requests end until the grace is over, then cancels
    /// them and closes the port. The destructor does the same without grace.
    virtual void stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace quern::app
