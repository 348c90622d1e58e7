#include "app/server/server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/server/server_fixture.h"

namespace quern::app {
namespace {

using test::bodyOf;
using test::httpRequest;
using test::RawConnection;
using test::statusOf;
using Json = nlohmann::ordered_json;

using ServerTest = ServerFixture;

constexpr const char* kChat =
    R"({"model": "scripted", "messages": [{"role": "user", "content": "Hi"}]})";
constexpr const char* kStreamed =
    R"({"messages": [{"role": "user", "content": "Hi"}], "stream": true, "stream_options": {"include_usage": true}})";

TEST_F(ServerTest, AnswersAChat) {
    RawConnection connection(m_server->port());
    connection.send(httpRequest("POST", "/v1/chat/completions", kChat, "X-Request-Id: mine\r\n"));
    const auto id = waitRunning(1).at(0);
    m_engine.say(id, "Hel");
    m_engine.say(id, "lo");
    m_engine.finish(id, stop());
    const auto answer = connection.readAnswer();
    ASSERT_EQ(statusOf(answer), 200);
    EXPECT_NE(answer.find("X-Request-Id: mine"), std::string::npos);
    const Json reply = Json::parse(bodyOf(answer));
    EXPECT_EQ(reply["object"], "chat.completion");
    EXPECT_EQ(reply["model"], "scripted");
    EXPECT_EQ(reply["choices"][0]["message"]["content"], "Hello");
    EXPECT_EQ(reply["choices"][0]["finish_reason"], "stop");
    EXPECT_EQ(reply["usage"]["prompt_tokens"], 8);
    EXPECT_EQ(reply["usage"]["completion_tokens"], 5);
    EXPECT_EQ(reply["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
    EXPECT_EQ(m_server->recent().at(0).completionTokens, 5);
}

TEST_F(ServerTest, StreamsAsClientsExpect) {
    RawConnection connection(m_server->port());
    connection.send(httpRequest("POST", "/v1/chat/completions", kStreamed));
    const auto id = waitRunning(1).at(0);
    m_engine.say(id, "Hel");
    m_engine.say(id, "lo");
    m_engine.finish(id, stop());
    const auto events = eventsOf(connection.readUntil("0\r\n\r\n"));
    ASSERT_EQ(events.size(), 6U);
    const Json role = Json::parse(events[0]);
    EXPECT_EQ(role["choices"][0]["delta"]["role"], "assistant");
    EXPECT_EQ(role["choices"][0]["delta"]["content"], "");
    EXPECT_TRUE(role["choices"][0]["finish_reason"].is_null());
    const Json text = Json::parse(events[1]);
    EXPECT_EQ(text["choices"][0]["delta"], Json({{"content", "Hel"}})) << "no role again";
    EXPECT_EQ(text["id"], role["id"]);
    EXPECT_EQ(text["created"], role["created"]);
    const Json finish = Json::parse(events[3]);
    EXPECT_EQ(finish["choices"][0]["delta"], Json::object()) << "nothing rides on the finish";
    EXPECT_EQ(finish["choices"][0]["finish_reason"], "stop");
    const Json usage = Json::parse(events[4]);
    EXPECT_TRUE(usage["choices"].empty());
    EXPECT_EQ(usage["usage"]["total_tokens"], 13);
    EXPECT_EQ(events[5], "[DONE]");
}

TEST_F(ServerTest, SeveralPromptsComeBackInOrder) {
    RawConnection connection(m_server->port());
    connection.send(
        httpRequest("POST", "/v1/completions", R"({"prompt": ["a", "b"], "echo": true})"));
    const auto ids = waitRunning(2);
    m_engine.say(ids[1], "second");
    m_engine.finish(ids[1], stop());
    m_engine.say(ids[0], "first");
    m_engine.finish(ids[0], stop());
    const Json reply = Json::parse(bodyOf(connection.readAnswer()));
    EXPECT_EQ(reply["choices"][0]["text"], "afirst");
    EXPECT_EQ(reply["choices"][1]["text"], "bsecond");
    EXPECT_EQ(reply["choices"][1]["index"], 1);
}

TEST_F(ServerTest, EveryChoiceEchoesThePromptWithItsLogprobs) {
    for (const char* stream : {"false", "true"}) {
        RawConnection connection(m_server->port());
        connection.send(
            httpRequest("POST", "/v1/completions",
                        std::string(R"({"prompt": "ab", "echo": true, "logprobs": 0, "stream": )") +
                            stream + "}"));
        const auto id = waitRunning(1).at(0);
        m_engine.say(id, "c", {{.token = 'c', .logprob = -2, .bytes = "c"}});
        m_engine.finish(id, stop());
        const std::string answer = connection.readUntil(*stream == 't' ? "[DONE]" : "usage");
        EXPECT_NE(answer.find(R"("tokens":["a","b","c"],"token_logprobs":[null,-1.0,-2.0])"),
                  std::string::npos)
            << answer;
        EXPECT_NE(answer.find(R"("text_offset":[0,1,2])"), std::string::npos) << answer;
    }
}

// Each of these once ended the process, or held up every other client.
TEST_F(ServerTest, BodiesThatAreTooDeepOrTooWideAreRefused) {
    const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
    std::string wide = "{";
    for (int i = 0; i < 100'000; ++i) {
        wide += "\"k" + std::to_string(i) + "\":1,";
    }
    wide += R"("k":1})";
    const std::string messages = R"({"messages": [{"role": "user", "content": "Hi"}], )";
    for (const std::string& body :
         {messages + R"("chat_template_kwargs": {"a": )" + deep + "}}",
          messages + R"("logit_bias": {"a": )" + deep + "}}", messages + R"("x": )" + deep + "}",
          messages + R"("x": )" + wide + "}",
          R"({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", )"
          R"("arguments": )" +
              deep + "}}]}]}"}) {
        for (const char* path : {"/v1/chat/completions", "/apply-template", "/v1/embeddings"}) {
            const auto answer = ask("POST", path, body);
            EXPECT_EQ(statusOf(answer), 400) << path;
            const Json error = Json::parse(bodyOf(answer))["error"];
            const auto message = error["message"].get<std::string>();
            EXPECT_TRUE(message.find("nested more than 200") != std::string::npos ||
                        message.find("too many members") != std::string::npos)
                << message;
        }
    }
}

TEST_F(ServerTest, AModelIsFoundByItsEscapedName) {
    EXPECT_EQ(statusOf(ask("GET", "/v1/models/%73cripted")), 200);
    for (const char* broken : {"scripted%", "scripted%2", "%zzscripted", "%"}) {
        EXPECT_EQ(statusOf(ask("GET", std::string("/v1/models/") + broken)), 404) << broken;
    }
}

TEST_F(ServerTest, MadeUpMethodsShareACounter) {
    EXPECT_EQ(statusOf(ask("BREW", "/health")), 405);
    const auto metrics = bodyOf(ask("GET", "/metrics"));
    EXPECT_EQ(metrics.find("BREW"), std::string::npos);
    EXPECT_NE(metrics.find(R"(method="other",status="405")"), std::string::npos);
}

TEST_F(ServerTest, AClientThatGoesAwayIsCancelled) {
    for (const bool isStream : {false, true}) {
        RawConnection connection(m_server->port());
        connection.send(httpRequest("POST", "/v1/chat/completions", isStream ? kStreamed : kChat));
        waitRunning(1);
        connection.close();
        waitRunning(0);
    }
}

TEST_F(ServerTest, ErrorsAreShapedAsClientsReadThem) {
    const auto errorOf = [](const std::string& answer) {
        return Json::parse(bodyOf(answer))["error"];
    };
    auto answer = ask("POST", "/v1/chat/completions", "{");
    EXPECT_EQ(statusOf(answer), 400);
    EXPECT_EQ(errorOf(answer)["type"], "invalid_request_error");
    EXPECT_TRUE(errorOf(answer)["param"].is_null());

    answer = ask("POST", "/v1/chat/completions",
                 R"({"model": "nobody", "messages": [{"role": "user", "content": "x"}]})");
    EXPECT_EQ(statusOf(answer), 404);
    EXPECT_EQ(errorOf(answer)["code"], "model_not_found");

    const std::string longText(5000, 'x');
    for (const char* stream : {"false", "true"}) {
        answer = ask("POST", "/v1/completions",
                     R"({"prompt": ")" + longText + R"(", "stream": )" + stream + "}");
        EXPECT_EQ(statusOf(answer), 400) << "before the first byte of a stream";
        EXPECT_EQ(errorOf(answer)["code"], "context_length_exceeded");
        EXPECT_NE(errorOf(answer)["message"].get<std::string>().find("5000"), std::string::npos);
    }

    EXPECT_EQ(statusOf(ask("GET", "/v1/nothing")), 404);
    answer = ask("GET", "/v1/chat/completions");
    EXPECT_EQ(statusOf(answer), 405);
    EXPECT_NE(answer.find("Allow: POST"), std::string::npos);

    m_engine.refuse(Error{.code = ErrorCode::kBusy, .message = "1024 requests wait already"});
    answer = ask("POST", "/v1/chat/completions", kChat);
    EXPECT_EQ(statusOf(answer), 429);
    EXPECT_EQ(errorOf(answer)["code"], "rate_limit_exceeded");
    EXPECT_NE(answer.find("Retry-After"), std::string::npos);
}

TEST_F(ServerTest, AFailureInMidStreamIsAnEventAndTheEnd) {
    RawConnection connection(m_server->port());
    connection.send(httpRequest("POST", "/v1/chat/completions", kStreamed));
    const auto id = waitRunning(1).at(0);
    m_engine.say(id, "Hel");
    engine::FinishInfo info;
    info.reason = engine::FinishReason::kError;
    info.error = Error{.code = ErrorCode::kInternal, .message = "secret detail"};
    m_engine.finish(id, info);
    const auto events = eventsOf(connection.readUntil("0\r\n\r\n"));
    ASSERT_EQ(events.size(), 4U);
    EXPECT_NE(events[2].find("\"error\""), std::string::npos);
    EXPECT_EQ(events[2].find("secret"), std::string::npos) << "no internals";
    EXPECT_EQ(events[3], "[DONE]");
}

TEST_F(ServerTest, SmallRoutes) {
    EXPECT_EQ(statusOf(ask("GET", "/health")), 200);
    EXPECT_EQ(Json::parse(bodyOf(ask("GET", "/v1/models")))["data"][0]["id"], "scripted");
    EXPECT_EQ(Json::parse(bodyOf(ask("GET", "/v1/models/scripted")))["max_model_len"], 4096);
    EXPECT_EQ(statusOf(ask("GET", "/v1/models/other")), 404);
    EXPECT_EQ(statusOf(ask("POST", "/tokenize", "{}")), 400) << "this model has no tokenizer";
    const auto metrics = bodyOf(ask("GET", "/metrics"));
    EXPECT_NE(metrics.find("# TYPE vllm:num_requests_running gauge"), std::string::npos);
    EXPECT_NE(
        metrics.find("http_requests_total{handler=\"/health\",method=\"GET\",status=\"200\"} 1"),
        std::string::npos);
}

TEST_F(ServerTest, KeysAreAskedForEverywhereButHealth) {
    ServerOptions options;
    options.apiKeys = {"sesame"};
    restart(options);
    EXPECT_EQ(statusOf(ask("GET", "/health")), 200);
    const auto refused = ask("GET", "/v1/models");
    EXPECT_EQ(statusOf(refused), 401);
    EXPECT_NE(refused.find("WWW-Authenticate"), std::string::npos);
    EXPECT_EQ(statusOf(ask("GET", "/metrics")), 401);
    EXPECT_EQ(statusOf(ask("GET", "/nothing")), 401) << "not even what exists is told";
    EXPECT_EQ(statusOf(ask("GET", "/v1/models", "", "Authorization: Bearer sesame\r\n")), 200);
}

TEST_F(ServerTest, AnOpenAddressNeedsAKey) {
    ServerOptions options;
    options.host = "0.0.0.0";
    const auto refused = Server::start(m_engine, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().field, "host");
    options.apiKeys = {""};
    EXPECT_FALSE(Server::start(m_engine, options));
}

TEST_F(ServerTest, StopLetsRunningRequestsEnd) {
    RawConnection connection(m_server->port());
    connection.send(httpRequest("POST", "/v1/chat/completions", kChat));
    const auto id = waitRunning(1).at(0);
    std::jthread ending([&] {
        m_engine.say(id, "done");
        m_engine.finish(id, stop());
    });
    m_server->stop(std::chrono::seconds(20));
    EXPECT_EQ(statusOf(connection.readAnswer()), 200);
}

TEST_F(ServerTest, WhoComesWhileItEndsIsToldSo) {
    RawConnection kept(m_server->port());
    kept.send(httpRequest("GET", "/health"));
    EXPECT_EQ(statusOf(kept.readAnswer()), 200);
    RawConnection running(m_server->port());
    running.send(httpRequest("POST", "/v1/chat/completions", kChat));
    const auto id = waitRunning(1).at(0);
    std::jthread ending([&] { m_server->stop(std::chrono::seconds(20)); });
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (statusOf(ask("GET", "/health")) != 503 && std::chrono::steady_clock::now() < patience) {
        std::this_thread::yield();
    }
    for (const auto& answer : {ask("POST", "/v1/chat/completions", kChat), [&] {
                                   kept.send(httpRequest("POST", "/v1/completions", kChat));
                                   return kept.readAll();
                               }()}) {
        EXPECT_EQ(statusOf(answer), 503);
        EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
        EXPECT_NE(answer.find("Connection: close"), std::string::npos);
        EXPECT_NE(answer.find("the server is ending"), std::string::npos);
    }
    m_engine.say(id, "done");
    m_engine.finish(id, stop());
    EXPECT_EQ(statusOf(running.readAnswer()), 200);
    ending.join();
}

TEST_F(ServerTest, StopCancelsWhatDoesNotEndAndSaysSo) {
    RawConnection whole(m_server->port());
    whole.send(httpRequest("POST", "/v1/chat/completions", kChat));
    waitRunning(1);
    RawConnection streamed(m_server->port());
    streamed.send(httpRequest("POST", "/v1/chat/completions", kStreamed));
    m_engine.say(waitRunning(2).at(1), "half");
    m_server->stop(std::chrono::milliseconds(1));
    EXPECT_TRUE(m_engine.running().empty());
    EXPECT_EQ(statusOf(whole.readAnswer()), 503);
    const auto events = eventsOf(streamed.readAll());
    ASSERT_GE(events.size(), 2U);
    EXPECT_NE(events[events.size() - 2].find("the server is ending"), std::string::npos);
    EXPECT_EQ(events.back(), "[DONE]");
}

}  // namespace
}  // namespace quern::app
