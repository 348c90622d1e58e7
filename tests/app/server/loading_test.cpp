// What clients are told while models load, and while the server ends.
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "app/server/server.h"
#include "tests/support/fake_engine.h"
#include "tests/support/raw_http.h"

namespace quern::app {
namespace {

using test::bodyOf;
using test::statusOf;
using Json = nlohmann::ordered_json;

/// A server over the engine itself, whose loads wait in front of the weights until they may go on.
class LoadingTest : public ::testing::Test {
protected:
    void SetUp() override {
        test::FakeEngineModel model;
        model.beforeWeights = [this]() -> Status {
            m_arrived.set_value();
            m_go.get_future().wait();
            return {};
        };
        m_engine = test::makeEngineForTest(model);
        auto started = Server::start(*m_engine, {.port = 0});
        ASSERT_TRUE(started) << started.error().message;
        m_server = std::move(*started);
    }

    void TearDown() override {
        if (m_load.valid()) {  // a test that failed held it
            m_go.set_value();
        }
    }

    /// Returns when the load is held.
    void beginLoad(const std::string& name) {
        m_arrived = {};
        m_go = {};
        m_load = std::async(std::launch::async,
                            [this, name] { return m_engine->load({.path = name + ".gguf"}, {}); });
        m_arrived.get_future().wait();
    }
    void endLoad() {
        m_go.set_value();
        ASSERT_TRUE(m_load.get());
    }

    std::string ask(const std::string& method, const std::string& path,
                    const std::string& body = "") {
        test::RawConnection connection(m_server->port());
        connection.send(test::httpRequest(method, path, body));
        return connection.readAnswer();
    }
    static std::string chatWith(const std::string& model) {
        return R"({"model": ")" + model + R"(", "messages": [{"role": "user", "content": "Hi"}]})";
    }

    std::promise<void> m_arrived;
    std::promise<void> m_go;
    std::unique_ptr<engine::Engine> m_engine;
    std::unique_ptr<Server> m_server;
    std::future<Result<std::shared_ptr<const engine::LoadedModel>>> m_load;
};

TEST_F(LoadingTest, AModelThatIsToComeIs503AndOneThatIsNotIs404) {
    ASSERT_TRUE(m_engine->announce("first"));
    ASSERT_TRUE(m_engine->announce("second"));
    beginLoad("first");
    for (const char* path : {"/v1/chat/completions", "/v1/embeddings", "/tokenize"}) {
        for (const char* name : {"first", "second", ""}) {
            const auto answer = ask("POST", path,
                                    R"({"model": ")" + std::string(name) +
                                        R"(", "input": "x", "prompt": "x", "messages": )"
                                        R"([{"role": "user", "content": "Hi"}]})");
            EXPECT_EQ(statusOf(answer), 503) << path << name;
            EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
            const Json error = Json::parse(bodyOf(answer))["error"];
            EXPECT_EQ(error["type"], "server_error");
            EXPECT_NE(error["message"].get<std::string>().find("try again soon"), std::string::npos)
                << error;
        }
        EXPECT_EQ(statusOf(ask("POST", path,
                               R"({"model": "third", "input": "x", "messages": )"
                               R"([{"role": "user", "content": "Hi"}]})")),
                  404)
            << path;
    }
    endLoad();
    EXPECT_EQ(statusOf(ask("POST", "/v1/chat/completions", chatWith("second"))), 503);
    EXPECT_NE(statusOf(ask("POST", "/v1/chat/completions", chatWith("first"))), 503);
}

TEST_F(LoadingTest, HealthTellsTheStageUntilAllAreThere) {
    EXPECT_EQ(statusOf(ask("GET", "/health")), 503) << "nothing is loaded";
    ASSERT_TRUE(m_engine->announce("a-later-one"));
    beginLoad("first");
    const auto answer = ask("GET", "/health");
    EXPECT_EQ(statusOf(answer), 503);
    EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
    const Json health = Json::parse(bodyOf(answer));
    EXPECT_EQ(health["status"], "loading");
    EXPECT_EQ(health["stage"], "weights");
    EXPECT_EQ(health["percent"], 2);
    EXPECT_EQ(health["more"], 1);
    EXPECT_EQ(health["error"]["message"], "a model is loading: weights, 2 %; 1 more to come");
    EXPECT_EQ(health.dump().find("first"), std::string::npos) << "whoever asks has no key";
    endLoad();
    EXPECT_EQ(Json::parse(bodyOf(ask("GET", "/ready")))["stage"], "waiting");
    beginLoad("a-later-one");
    endLoad();
    EXPECT_EQ(statusOf(ask("GET", "/health")), 200);
    EXPECT_EQ(statusOf(ask("GET", "/ready")), 200);
}

TEST_F(LoadingTest, ModelsAreListedWithTheirState) {
    ASSERT_TRUE(m_engine->announce("second"));
    beginLoad("first");
    Json data = Json::parse(bodyOf(ask("GET", "/v1/models")))["data"];
    ASSERT_EQ(data.size(), 2U);
    EXPECT_EQ(data[0]["id"], "first");
    EXPECT_EQ(data[0]["state"], "loading");
    EXPECT_EQ(data[0]["stage"], "weights");
    EXPECT_EQ(data[0]["percent"], 2);
    EXPECT_EQ(data[1]["id"], "second");
    EXPECT_EQ(data[1]["stage"], "waiting");
    EXPECT_EQ(Json::parse(bodyOf(ask("GET", "/v1/models/second")))["state"], "loading");
    endLoad();
    data = Json::parse(bodyOf(ask("GET", "/v1/models")))["data"];
    ASSERT_EQ(data.size(), 2U);
    EXPECT_EQ(data[0]["state"], "loaded");
    EXPECT_EQ(data[1]["state"], "loading");
    EXPECT_EQ(Json::parse(bodyOf(ask("GET", "/v1/models/first")))["state"], "loaded");
    EXPECT_EQ(statusOf(ask("GET", "/v1/models/third")), 404);
}

TEST_F(LoadingTest, AnEngineThatHasEndedIs503) {
    m_engine->shutdown(std::chrono::milliseconds(0));
    const auto answer = ask("POST", "/v1/chat/completions", chatWith("first"));
    EXPECT_EQ(statusOf(answer), 503);
    EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
}

}  // namespace
}  // namespace quern::app
