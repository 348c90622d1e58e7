#include "app/server/http/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "tests/support/raw_http.h"

namespace quern::app {
namespace {

using test::bodyOf;
using test::httpRequest;
using test::RawConnection;
using test::statusOf;

/// A server whose handler says what it got, streams, or waits, by path.
class HttpServerTest : public ::testing::Test {
protected:
    HttpServer& start(HttpLimits limits = {}) {
        auto started = HttpServer::start(
            "127.0.0.1", 0, limits,
            [this](std::shared_ptr<Exchange> exchange) { handle(exchange); },
            [](int status, const std::string& text) {
                return std::to_string(status) + ": " + text;
            });
        EXPECT_TRUE(started) << started.error().message;
        m_server = std::move(*started);
        return *m_server;
    }

    void handle(const std::shared_ptr<Exchange>& exchange) {
        const HttpRequest& request = exchange->request();
        if (request.path == "/stream") {
            exchange->startStream("text/event-stream");
            exchange->write("data: one\n\n");
            exchange->write("data: two\n\n");
            exchange->endStream();
        } else if (request.path == "/wait") {
            exchange->setClosedHandler([this] { note(m_closed); });
            exchange->setEndHandler([&answer = *exchange] {  // an exchange holds its handlers
                answer.write("data: ended\n\n");
                answer.endStream();
            });
            exchange->startStream("text/event-stream");
            note(m_waiting);
        } else if (request.path == "/later") {
            exchange->setClosedHandler([this] { note(m_closed); });
            exchange->setEndHandler([&answer = *exchange] {
                answer.respond(
                    {.status = 200, .contentType = "text/plain", .body = "at last", .headers = {}});
            });
            note(m_waiting);
        } else if (request.path == "/host") {
            exchange->respond({.status = 200,
                               .contentType = "text/plain",
                               .body = std::string(request.header("host")),
                               .headers = {}});
        } else if (request.path == "/flood") {
            exchange->setClosedHandler([this] { note(m_closed); });
            exchange->setPressureHandler(
                [this](bool isSlow) { note(isSlow ? m_slow : m_caughtUp); });
            exchange->startStream("text/plain");
            // More than the kernel's own buffers take.
            for (int i = 0; i < 16; ++i) {
                exchange->write(std::string(std::size_t{1} << 20, 'x'));
            }
            exchange->endStream();
        } else {
            exchange->respond({.status = 200,
                               .contentType = "text/plain",
                               .body = request.method + " " + request.path + "?" + request.query +
                                       " " + request.body,
                               .headers = {}});
        }
    }

    void note(std::atomic<int>& counter) {
        const std::lock_guard lock(m_mutex);
        ++counter;
        m_changed.notify_all();
    }
    bool waitFor(const std::atomic<int>& counter) {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, std::chrono::seconds(20), [&] { return counter > 0; });
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::atomic<int> m_closed = 0;
    std::atomic<int> m_waiting = 0;
    std::atomic<int> m_slow = 0;
    std::atomic<int> m_caughtUp = 0;
    std::unique_ptr<HttpServer> m_server;
};

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
    RawConnection connection(start().port());
    for (int i = 0; i < 3; ++i) {
        connection.send(httpRequest("POST", "/echo?a=1", "body"));
        const auto answer = connection.readAnswer();
        EXPECT_EQ(statusOf(answer), 200);
        EXPECT_EQ(bodyOf(answer), "POST /echo?a=1 body");
    }
    connection.send(httpRequest("HEAD", "/echo"));
    const auto head = connection.readUntil("\r\n\r\n");
    EXPECT_EQ(statusOf(head), 200);
    connection.send(httpRequest("GET", "/after", "", "Connection: close\r\n"));
    EXPECT_EQ(bodyOf(connection.readAll()), "GET /after? ") << "HEAD sent no body before";
}

TEST_F(HttpServerTest, TakesPipelinedRequestsInOrder) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/1") + httpRequest("GET", "/2"));
    EXPECT_EQ(bodyOf(connection.readAnswer()), "GET /1? ");
    EXPECT_EQ(bodyOf(connection.readAnswer()), "GET /2? ");
}

TEST_F(HttpServerTest, StreamsInChunksAndGoesOn) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/stream"));
    const auto answer = connection.readUntil("0\r\n\r\n");
    EXPECT_NE(answer.find("Transfer-Encoding: chunked"), std::string::npos);
    EXPECT_NE(answer.find("b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n0\r\n\r\n"),
              std::string::npos)
        << answer;
    connection.send(httpRequest("GET", "/again"));
    EXPECT_EQ(bodyOf(connection.readAnswer()), "GET /again? ");
}

TEST_F(HttpServerTest, AnOldClientGetsTheStreamBare) {
    RawConnection connection(start().port());
    connection.send("GET /stream HTTP/1.0\r\n\r\n");
    EXPECT_EQ(bodyOf(connection.readAll()), "data: one\n\ndata: two\n\n");
}

TEST_F(HttpServerTest, ContinuesWhenAsked) {
    RawConnection connection(start().port());
    connection.send(
        "POST /big HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    EXPECT_EQ(connection.readUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    connection.send("body");
    EXPECT_EQ(bodyOf(connection.readAnswer()), "POST /big? body");
}

TEST_F(HttpServerTest, RefusesWhatIsTooLargeOrNoHttp) {
    HttpLimits limits;
    limits.bodyBytes = 100;
    limits.headerBytes = 1000;
    const auto port = start(limits).port();
    RawConnection large(port);
    large.send(httpRequest("POST", "/x", std::string(101, 'x')));
    EXPECT_EQ(statusOf(large.readAll()), 413);
    RawConnection wide(port);
    wide.send("GET /x HTTP/1.1\r\nA: " + std::string(2000, 'x') + "\r\n\r\n");
    EXPECT_EQ(statusOf(wide.readAll()), 431);
    RawConnection longLine(port);
    longLine.send("GET /" + std::string(2000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(statusOf(longLine.readAll()), 414);
    RawConnection noise(port);
    noise.send("\x16\x03\x01 this is TLS\r\n\r\n");
    EXPECT_EQ(statusOf(noise.readAll()), 400);
    RawConnection chunked(port);
    chunked.send(
        "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n");
    EXPECT_EQ(bodyOf(chunked.readAnswer()), "POST /x? body");
}

// Closing with bytes unread would reset the connection, and the answer be lost on its way.
TEST_F(HttpServerTest, ARefusalArrivesThoughTheClientStillSends) {
    HttpLimits limits;
    limits.bodyBytes = 100;
    const auto port = start(limits).port();
    RawConnection connection(port);
    connection.send("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n");
    connection.send(std::string(8'000'000, 'x'));
    connection.endSending();
    EXPECT_EQ(statusOf(connection.readAll()), 413);
    EXPECT_TRUE(connection.hasPeerEnded());
}

TEST_F(HttpServerTest, WantsOneHostAndTakesItFromTheTargetToo) {
    const auto port = start().port();
    const auto answerTo = [port](const std::string& head) {
        RawConnection connection(port);
        connection.send(head + "Connection: close\r\n\r\n");
        return connection.readAll();
    };
    EXPECT_EQ(bodyOf(answerTo("GET /x HTTP/1.1\r\n")), "400: the request has no Host header");
    EXPECT_EQ(bodyOf(answerTo("GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n")),
              "400: the request has two Host headers");
    EXPECT_EQ(bodyOf(answerTo("GET /x HTTP/1.0\r\n")), "GET /x? ");
    EXPECT_EQ(bodyOf(answerTo("GET HTTP://b:80/x?y HTTP/1.1\r\nHost: a\r\n")), "GET /x?y ");
    EXPECT_EQ(bodyOf(answerTo("GET http://b HTTP/1.1\r\nHost: a\r\n")), "GET /? ");
    EXPECT_EQ(bodyOf(answerTo("GET http://b/host HTTP/1.1\r\nHost: a\r\n")), "b");
}

TEST_F(HttpServerTest, AsksRunningAnswersForTheirEnd) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/wait"));
    ASSERT_TRUE(waitFor(m_waiting));
    m_server->endExchanges();
    EXPECT_NE(connection.readUntil("0\r\n\r\n").find("data: ended"), std::string::npos);
    EXPECT_TRUE(m_server->waitUntilIdle(std::chrono::seconds(20)));
    EXPECT_EQ(m_closed, 0);
}

TEST_F(HttpServerTest, TellsWhenTheClientGoesAway) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/wait"));
    ASSERT_TRUE(waitFor(m_waiting));
    connection.close();
    EXPECT_TRUE(waitFor(m_closed));
    EXPECT_TRUE(m_server->waitUntilIdle(std::chrono::seconds(20)));
}

TEST_F(HttpServerTest, TellsWhenAClientThatSaidMoreGoesAway) {
    for (const std::string& early : {std::string("\r\n"), httpRequest("GET", "/echo")}) {
        RawConnection connection(start().port());
        connection.send(httpRequest("GET", "/wait"));
        ASSERT_TRUE(waitFor(m_waiting));
        connection.send(early);
        connection.close();
        EXPECT_TRUE(waitFor(m_closed)) << early;
        EXPECT_TRUE(m_server->waitUntilIdle(std::chrono::seconds(20)));
        m_waiting = 0;
        m_closed = 0;
    }
}

TEST_F(HttpServerTest, AClientThatOnlyEndsItsSideGetsItsAnswers) {
    const auto port = start().port();
    RawConnection two(port);
    two.send(httpRequest("GET", "/1") + httpRequest("GET", "/stream"));
    two.endSending();
    const auto answers = two.readAll();
    EXPECT_NE(answers.find("GET /1? "), std::string::npos);
    EXPECT_NE(answers.find("data: two\n\n\r\n0\r\n\r\n"), std::string::npos) << answers;
    EXPECT_TRUE(two.hasPeerEnded());

    RawConnection waiting(port);
    waiting.send(httpRequest("GET", "/wait"));
    waiting.endSending();
    EXPECT_NE(waiting.readUntil(": ping").find(": ping"), std::string::npos) << "is it there?";
    m_server->endExchanges();
    EXPECT_NE(waiting.readAll().find("data: ended"), std::string::npos);
    EXPECT_EQ(m_closed, 0);
}

TEST_F(HttpServerTest, AnAnswerThatTakesLongerIsWaitedFor) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/later"));
    ASSERT_TRUE(waitFor(m_waiting));
    connection.endSending();
    EXPECT_EQ(connection.readUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    m_server->endExchanges();
    EXPECT_EQ(bodyOf(connection.readAll()), "at last");
    EXPECT_TRUE(connection.hasPeerEnded());
    EXPECT_EQ(m_closed, 0);
}

TEST_F(HttpServerTest, TellsWhenAClientThatEndedItsSideGoesAway) {
    HttpLimits limits;
    limits.pingEvery = std::chrono::milliseconds(20);
    const auto port = start(limits).port();
    for (const char* path : {"/wait", "/later"}) {
        RawConnection connection(port);
        connection.send(httpRequest("GET", path));
        ASSERT_TRUE(waitFor(m_waiting));
        connection.endSending();
        (void)connection.readUntil(*(path + 1) == 'w' ? ": ping" : "100 Continue\r\n\r\n");
        EXPECT_EQ(m_closed, 0);
        connection.close();
        EXPECT_TRUE(waitFor(m_closed)) << path;
        EXPECT_TRUE(m_server->waitUntilIdle(std::chrono::seconds(20)));
        m_waiting = 0;
        m_closed = 0;
    }
}

TEST_F(HttpServerTest, KeepsARequestThatCameWhileOneWasAnswered) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/flood"));
    ASSERT_TRUE(waitFor(m_slow));
    connection.send(httpRequest("GET", "/echo"));
    EXPECT_EQ(statusOf(connection.readUntil("0\r\n\r\n")), 200);
    EXPECT_EQ(bodyOf(connection.readAnswer()), "GET /echo? ");
}

TEST_F(HttpServerTest, PausesForASlowReaderAndGivesItUpInTheEnd) {
    HttpLimits limits;
    limits.stalled = std::chrono::milliseconds(100);
    RawConnection connection(start(limits).port());
    connection.send(httpRequest("GET", "/flood"));
    EXPECT_TRUE(waitFor(m_slow));
    EXPECT_TRUE(waitFor(m_closed)) << "unread for too long";
}

TEST_F(HttpServerTest, ASlowReaderThatReadsGetsEverything) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/flood"));
    EXPECT_TRUE(waitFor(m_slow));
    const auto answer = connection.readUntil("0\r\n\r\n");
    EXPECT_GT(answer.size(), std::size_t{16} << 20);
    EXPECT_GT(m_caughtUp, 0);
}

TEST_F(HttpServerTest, PingsASilentStream) {
    HttpLimits limits;
    limits.pingEvery = std::chrono::milliseconds(20);
    RawConnection connection(start(limits).port());
    connection.send(httpRequest("GET", "/wait"));
    EXPECT_NE(connection.readUntil(": ping\n\n").find(": ping"), std::string::npos);
}

TEST_F(HttpServerTest, TimesOutAHalfSentHeader) {
    HttpLimits limits;
    limits.headerTimeout = std::chrono::milliseconds(50);
    RawConnection connection(start(limits).port());
    connection.send("GET / HT");
    EXPECT_EQ(connection.readAll(), "") << "closed without a word";
}

TEST_F(HttpServerTest, ClosesConnectionsOverTheLimit) {
    HttpLimits limits;
    limits.connections = 1;
    const auto port = start(limits).port();
    RawConnection first(port);
    first.send(httpRequest("GET", "/wait"));
    ASSERT_TRUE(waitFor(m_waiting));
    RawConnection second(port);
    EXPECT_EQ(second.readAll(), "");
}

TEST_F(HttpServerTest, NamesWhoHoldsThePort) {
    const auto port = start().port();
    const auto taken = HttpServer::start(
        "127.0.0.1", port, {}, [](const auto&) {}, [](int, const auto& text) { return text; });
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::kConflict);
    EXPECT_NE(taken.error().message.find("app_server_test"), std::string::npos)
        << taken.error().message;
    EXPECT_FALSE(HttpServer::start("no.such.host.invalid", 0, {}, {}, {}));
}

TEST_F(HttpServerTest, DestructionClosesWhatWaits) {
    RawConnection connection(start().port());
    connection.send(httpRequest("GET", "/wait"));
    ASSERT_TRUE(waitFor(m_waiting));
    EXPECT_FALSE(m_server->waitUntilIdle(std::chrono::milliseconds(1)));
    m_server.reset();
    EXPECT_EQ(m_closed, 1);
}

}  // namespace
}  // namespace quern::app
