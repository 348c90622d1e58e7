#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "app/server/http/http_server.h"

namespace quern::app {

class HttpSession;

/// What all connections of a server share: its socket, its thread, its counts. Lives as long as any
/// of them; what is not marked belongs to the I/O thread.
class HttpCore : public std::enable_shared_from_this<HttpCore> {
public:
    HttpCore(const HttpLimits& limitsGiven, ExchangeHandler handlerGiven,
             std::function<std::string(int, const std::string&)> makeErrorGiven);

    [[nodiscard]] Status listen(const std::string& host, std::uint16_t wantedPort);
    /// Starts the thread.
    void run();
    /// Runs work on the I/O thread; drops it once that thread has ended. Any thread.
    void post(std::function<void()> work);
    /// No work is taken any more, and none stays queued. After the thread has ended.
    void endPosting();

    void add(HttpSession& session);
    void remove(HttpSession& session);
    /// Closes all connections, or those with nothing to answer.
    void closeSessions(bool onlyIdle);
    /// Asks all that answer to come to an end.
    void endExchanges();
    void exchangeBegan();
    void exchangeEnded();

    HttpLimits limits;
    ExchangeHandler handler;
    std::function<std::string(int, const std::string&)> makeError;
    boost::asio::io_context context{1};
    boost::asio::ip::tcp::acceptor acceptor;
    std::uint16_t port = 0;
    std::jthread thread;
    std::atomic<bool> isStopping = false;          // any thread; no second requests
    std::atomic<std::size_t> connectionCount = 0;  // any thread
    std::mutex mutex;                              // guards the two below
    std::condition_variable idle;
    std::size_t exchanges = 0;

private:
    void accept();
    [[nodiscard]] std::vector<std::shared_ptr<HttpSession>> allSessions() const;

    std::set<HttpSession*> m_sessions;
    bool m_takesWork = true;  // guarded by mutex
};

}  // namespace quern::app
