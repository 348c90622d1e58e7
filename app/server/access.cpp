#include "app/server/access.h"

#include <algorithm>
#include <cctype>

namespace quern::app {

namespace {

// Takes as long for a wrong key as for the right one, wherever they differ.
bool equalInConstantTime(std::string_view given, std::string_view key) {
    unsigned difference = given.size() == key.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char expected = key.empty() ? '\0' : key[i % key.size()];
        difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i] ^ expected));
    }
    return difference == 0;
}

bool equalButForCase(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

// "[::1]:8080" and "localhost:8080" without the port, "http://host" without the scheme.
std::string_view hostOf(std::string_view text) {
    if (const auto scheme = text.find("://"); scheme != std::string_view::npos) {
        text.remove_prefix(scheme + 3);
    }
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        return end == std::string_view::npos ? text : text.substr(1, end - 1);
    }
    return text.substr(0, text.find(':'));
}

std::string_view keyOf(const HttpRequest& request) {
    std::string_view given = request.header("authorization");
    constexpr std::string_view kBearer = "Bearer ";
    if (equalButForCase(given.substr(0, kBearer.size()), kBearer)) {
        given.remove_prefix(kBearer.size());
        return given;
    }
    return request.header("x-api-key");
}

// Takes as long whichever it is.
bool isOneOf(std::string_view given, const std::vector<std::string>& keys) {
    bool isKnown = false;
    for (const std::string& key : keys) {
        isKnown = equalInConstantTime(given, key) || isKnown;
    }
    return isKnown;
}

}  // namespace

bool isLoopbackHost(std::string_view host) {
    constexpr std::string_view kLocal = "localhost";  // names know no case
    const bool isDotted = host.starts_with("127.") && host.size() <= 15 &&
                          host.find_first_not_of("0123456789.") == std::string_view::npos;
    return isDotted || equalButForCase(host, kLocal) || host == "::1";
}

std::optional<ApiError> Access::refusal(const HttpRequest& request, Right right) const {
    if (m_isLoopback) {
        const auto host = request.header("host");
        const auto origin = request.header("origin");
        if (!host.empty() && !isLoopbackHost(hostOf(host))) {
            return fromStatus(403, "this server answers on loopback names only, not on '" +
                                       std::string(hostOf(host)) + "'");
        }
        if (!origin.empty() && !isLoopbackHost(hostOf(origin))) {
            return fromStatus(403, "pages of other origins may not use this server");
        }
    }
    const bool isOpen = m_keys.empty() && (right == Right::kUse || m_adminKeys.empty());
    if (right == Right::kNone || isOpen) {
        return std::nullopt;
    }
    const std::string_view given = keyOf(request);
    const bool isAdmin = isOneOf(given, m_adminKeys);
    const bool isKnown = isOneOf(given, m_keys) || isAdmin;
    if (isAdmin || (isKnown && right == Right::kUse)) {
        return std::nullopt;
    }
    if (isKnown) {
        return fromStatus(403, m_adminKeys.empty()
                                   ? "this needs an admin key: start the server with --admin-key"
                                   : "this needs the admin key");
    }
    return fromStatus(401, given.empty() ? "this server wants an API key: Authorization: Bearer KEY"
                                         : "the API key is not right");
}

}  // namespace quern::app
