#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>

#include "app/server/http/http_message.h"
#include "kernels/result.h"

namespace quern::app {

/// A request as it came off the wire, as handlers see it. Takes the body. A target in absolute form
/// ("http://host/path") is one like any other, and its host goes before the header's (RFC 9112,
/// 3.2.2); HTTP/1.1 without a Host, or any request with two, is an error (3.2).
[[nodiscard]] Result<HttpRequest> takeRequest(
    boost::beast::http::request<boost::beast::http::string_body>& message,
    const std::string& client);

/// Status line and the headers that every answer has, without the empty line.
[[nodiscard]] std::string answerHead(int status, const std::string& contentType, bool keepsAlive);
[[nodiscard]] std::string headerLine(const std::string& name, const std::string& value);

/// Bytes as a chunk of a chunked answer; nothing stays nothing, which would end it.
[[nodiscard]] std::string asChunk(const std::string& bytes);

}  // namespace quern::app
