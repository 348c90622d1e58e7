#include "app/server/http/http_text.h"

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

}  // namespace

HttpRequest takeRequest(http::request<http::string_body>& message, const std::string& client) {
    HttpRequest request;
    request.method = std::string(message.method_string());
    const std::string target(message.target());
    const auto question = target.find('?');
    request.path = target.substr(0, question);
    request.query = question == std::string::npos ? "" : target.substr(question + 1);
    for (const auto& field : message) {
        request.headers.emplace_back(
            lowerCase({field.name_string().data(), field.name_string().size()}),
            std::string(field.value()));
    }
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
