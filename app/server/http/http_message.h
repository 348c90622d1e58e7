#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::app {

/// A request as it came in. Header names are lower case.
struct HttpRequest {
    std::string method;
    std::string path;   // without the query
    std::string query;  // after the question mark
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    std::string client;  // address of the peer

    /// Empty when there is no such header. `name` in lower case.
    [[nodiscard]] std::string_view header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) {
                return value;
            }
        }
        return {};
    }
};

struct HttpResponse {
    int status = 200;
    std::string contentType = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;  // further ones
};

}  // namespace quern::app
