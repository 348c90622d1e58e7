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
    /// What a path asks of who asks for it.
    enum class Right { kNone, kUse, kAdmin };

    /// Keys to use models, and keys to change them, which may do both. Without keys to use,
    /// everyone may; without any key, everyone may change them too.
    Access(std::vector<std::string> keys, std::vector<std::string> adminKeys, bool isLoopback)
        : m_keys(std::move(keys)), m_adminKeys(std::move(adminKeys)), m_isLoopback(isLoopback) {}

    /// The reason to refuse, if there is one. On loopback a Host or Origin of another name is
    /// refused: a web page must not reach the endpoint through DNS rebinding.
    [[nodiscard]] std::optional<ApiError> refusal(const HttpRequest& request, Right right) const;

private:
    std::vector<std::string> m_keys;
    std::vector<std::string> m_adminKeys;
    bool m_isLoopback;
};

/// Whether a host is this machine's loopback by its spelling: "localhost", "127.x.y.z", "::1".
[[nodiscard]] bool isLoopbackHost(std::string_view host);

}  // namespace quern::app
