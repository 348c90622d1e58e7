#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/server/http/http_message.h"

namespace quern::app {

/// One request and its answer. All methods run on the server's I/O thread, but post(), which any
/// thread may call to get there. A client that went away makes the writing methods do nothing.
class Exchange {
public:
    virtual ~Exchange() = default;
    [[nodiscard]] virtual const HttpRequest& request() const = 0;

    /// A further header of the answer; before respond() or startStream().
    virtual void setHeader(const std::string& name, const std::string& value) = 0;

    /// The whole answer at once. Once an exchange, and not with a stream.
    virtual void respond(HttpResponse response) = 0;

    /// Begins an answer of unknown length; then write() any number of times, then endStream().
    virtual void startStream(const std::string& contentType) = 0;
    virtual void write(std::string bytes) = 0;
    virtual void endStream() = 0;

    /// Called once when the client goes away before the answer is complete.
    virtual void setClosedHandler(std::function<void()> handler) = 0;
    /// Called once when the server ends and the answer must be brought to its end now.
    virtual void setEndHandler(std::function<void()> handler) = 0;
    /// Called with true when the client has left too much unread, and with false when it caught up.
    virtual void setPressureHandler(std::function<void(bool)> handler) = 0;

    virtual void post(std::function<void()> work) = 0;
};

using ExchangeHandler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace quern::app
