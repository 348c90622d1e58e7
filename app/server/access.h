#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/server/http/http_message.h"
#include "app/server/openai/api_error.h"

namespace quern::app {

/// Who may ask. Immutable; any thread.
class Access {
public:
    Access(std::vector<std::string> keys, bool isLoopback)
        : m_keys(std::move(keys)), m_isLoopback(isLoopback) {}

    /// The reason to refuse, if there is one. On loopback a Host or Origin of another name is
    /// refused: a web page must not reach the endpoint through DNS rebinding. `needsKey` is false
    /// for /health.
    [[nodiscard]] std::optional<ApiError> refusal(const HttpRequest& request, bool needsKey) const;

private:
    std::vector<std::string> m_keys;
    bool m_isLoopback;
};

/// Whether a host is this machine's loopback by its spelling: "localhost", "127.x.y.z", "::1".
[[nodiscard]] bool isLoopbackHost(std::string_view host);

}  // namespace quern::app
