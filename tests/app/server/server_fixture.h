#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/server/server.h"
#include "tests/support/raw_http.h"
#include "tests/support/scripted_engine.h"

namespace quern::app {

/// A server over an engine that says what a test has it say.
class ServerFixture : public ::testing::Test {
protected:
    ServerFixture() { restart({}); }

    void restart(ServerOptions options) {
        m_server.reset();
        options.port = 0;
        auto started = Server::start(m_engine, options);
        ASSERT_TRUE(started) << started.error().message;
        m_server = std::move(*started);
    }

    std::string ask(const std::string& method, const std::string& path,
                    const std::string& body = "", const std::string& headers = "") {
        test::RawConnection connection(m_server->port());
        connection.send(test::httpRequest(method, path, body, headers));
        return connection.readAnswer();
    }

    // Waits until `count` requests run in the engine.
    std::vector<engine::RequestId> waitRunning(std::size_t count) {
        const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (m_engine.running().size() != count && std::chrono::steady_clock::now() < patience) {
            std::this_thread::yield();
        }
        EXPECT_EQ(m_engine.running().size(), count);
        return m_engine.running();
    }

    static engine::FinishInfo stop() {
        engine::FinishInfo info;
        info.reason = engine::FinishReason::kStop;
        info.stopToken = 2;
        return info;
    }

    // The JSON of each `data:` line of a chunked stream.
    static std::vector<std::string> eventsOf(const std::string& answer) {
        std::vector<std::string> events;
        for (auto at = answer.find("data: "); at != std::string::npos;
             at = answer.find("data: ", at + 1)) {
            events.push_back(answer.substr(at + 6, answer.find("\n\n", at) - at - 6));
        }
        return events;
    }

    test::ScriptedEngine m_engine;
    std::unique_ptr<Server> m_server;
};

}  // namespace quern::app
