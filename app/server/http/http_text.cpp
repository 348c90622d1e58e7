#include "app/server/http/http_text.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <cctype>
#include <cstdio>
#include <utility>

namespace quern::app {

namespace http = boost::beast::http;

namespace {

std::string lowerCase(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return lower;
}

/// What a request asks for (RFC 9112, 3.2).
struct Target {
    std::string host;  // of the absolute form
    std::string path;
    std::string query;  // after the question mark
};

Target splitTarget(std::string_view text) {
    Target target;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (lowerCase(text.substr(0, scheme.size())) == scheme) {
            text.remove_prefix(scheme.size());
            const auto end = text.find_first_of("/?");
            target.host = std::string(text.substr(0, end));
            text.remove_prefix(std::min(end, text.size()));
            break;
        }
    }
    const auto question = text.find('?');
    target.path = std::string(text.substr(0, question));
    if (target.path.empty()) {
        target.path = "/";
    }
    if (question != std::string_view::npos) {
        target.query = std::string(text.substr(question + 1));
    }
    return target;
}

}  // namespace

Result<HttpRequest> takeRequest(http::request<http::string_body>& message,
                                const std::string& client) {
    HttpRequest request;
    request.method = std::string(message.method_string());
    for (const auto& field : message) {
        request.headers.emplace_back(
            lowerCase({field.name_string().data(), field.name_string().size()}),
            std::string(field.value()));
    }
    const auto isHost = [](const auto& header) { return header.first == "host"; };
    const auto hosts = std::ranges::count_if(request.headers, isHost);
    if (hosts > 1) {
        return fail(ErrorCode::kInvalidArgument, "the request has two Host headers");
    }
    if (hosts == 0 && message.version() >= 11) {
        return fail(ErrorCode::kInvalidArgument, "the request has no Host header");
    }
    const Target target = splitTarget(std::string_view(message.target()));
    if (!target.host.empty()) {
        std::erase_if(request.headers, isHost);
        request.headers.emplace_back("host", target.host);
    }
    request.path = target.path;
    request.query = target.query;
    request.body = std::move(message.body());
    request.client = client;
    return request;
}

std::string answerHead(int status, const std::string& contentType, bool keepsAlive) {
    const auto reason = http::obsolete_reason(static_cast<http::status>(status));
    std::string head = "HTTP/1.1 " + std::to_string(status) + " ";
    head.append(reason.data(), reason.size());
    return head + "\r\n" + headerLine("Content-Type", contentType) +
           headerLine("Connection", keepsAlive ? "keep-alive" : "close");
}

std::string headerLine(const std::string& name, const std::string& value) {
    return name + ": " + value + "\r\n";
}

std::string asChunk(const std::string& bytes) {
    if (bytes.empty()) {
        return bytes;
    }
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return size + bytes + "\r\n";
}

}  // namespace quern::app
