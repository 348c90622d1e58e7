// Calls of tools and reasoning, through the endpoint: what a model writes in its own dialect is
// what an OpenAI client gets.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/server/server_fixture.h"

namespace quern::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTools =
    R"([{"type": "function", "function": {"name": "look", "parameters": {"type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}])";

/// What came of one choice, put together from an answer or from a stream's chunks.
struct Told {
    std::string content;
    std::string reasoning;
    std::vector<std::pair<std::string, std::string>> calls;  // name, arguments
    std::string finish;
    bool operator==(const Told&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Told& told) {
    out << "content [" << told.content << "] reasoning [" << told.reasoning << "]";
    for (const auto& [name, arguments] : told.calls) {
        out << " call " << name << " [" << arguments << "]";
    }
    return out << " finish " << told.finish;
}

class ToolCallsTest : public ServerFixture {
protected:
    static std::string body(bool isStream, const std::string& patch = "{}") {
        Json request{{"messages", Json::array({Json{{"role", "user"}, {"content", "Hi"}}})},
                     {"tools", Json::parse(kTools)},
                     {"stream", isStream}};
        request.merge_patch(Json::parse(patch));
        return request.dump();
    }

    // Has the engine say `text` in pieces of `step` characters, and reads what the client gets.
    Told tell(const std::string& text, bool isStream, std::size_t step,
              const std::string& patch = "{}", engine::FinishInfo finish = stop()) {
        test::RawConnection connection(m_server->port());
        connection.send(test::httpRequest("POST", "/v1/chat/completions", body(isStream, patch)));
        const auto id = waitRunning(1).at(0);
        for (std::size_t from = 0; from < text.size();) {
            std::size_t to = std::min(text.size(), from + step);
            while (to < text.size() && (static_cast<unsigned char>(text[to]) & 0xC0) == 0x80) {
                ++to;  // no event ends inside a character
            }
            m_engine.say(id, text.substr(from, to - from));
            from = to;
        }
        m_engine.finish(id, std::move(finish));
        if (isStream) {
            return fromStream(eventsOf(connection.readUntil("0\r\n\r\n")));
        }
        const std::string answer = connection.readAnswer();
        EXPECT_EQ(test::statusOf(answer), 200) << answer;
        return fromAnswer(Json::parse(test::bodyOf(answer)));
    }

    static Told fromAnswer(const Json& reply) {
        const Json& choice = reply["choices"][0];
        const Json& message = choice["message"];
        Told told;
        told.finish = choice["finish_reason"];
        told.content = message["content"].is_null() ? "" : message["content"];
        told.reasoning = message.value("reasoning_content", "");
        for (const Json& call : message.value("tool_calls", Json::array())) {
            EXPECT_EQ(call["type"], "function");
            EXPECT_TRUE(call["id"].get<std::string>().starts_with("call_"));
            told.calls.emplace_back(call["function"]["name"], call["function"]["arguments"]);
        }
        EXPECT_EQ(message["content"].is_null(), told.content.empty() && !told.calls.empty());
        return told;
    }

    static Told fromStream(const std::vector<std::string>& events) {
        Told told;
        std::set<std::string> ids;
        for (std::size_t i = 0; i + 1 < events.size(); ++i) {
            const Json choice = Json::parse(events[i])["choices"][0];
            const Json& delta = choice["delta"];
            if (!choice["finish_reason"].is_null()) {
                EXPECT_TRUE(told.finish.empty());
                EXPECT_EQ(delta, Json::object());
                told.finish = choice["finish_reason"];
                continue;
            }
            EXPECT_LE(delta.size(), i == 0 ? 2U : 1U) << "one kind a chunk: " << delta;
            told.content += delta.value("content", "");
            told.reasoning += delta.value("reasoning_content", "");
            for (const Json& call : delta.value("tool_calls", Json::array())) {
                const Json& function = call["function"];
                if (call.contains("id")) {
                    EXPECT_EQ(call["index"], told.calls.size());
                    EXPECT_EQ(call["type"], "function");
                    EXPECT_EQ(function["arguments"], "") << "the name comes first and alone";
                    EXPECT_TRUE(ids.insert(call["id"].get<std::string>()).second);
                    told.calls.emplace_back(function["name"], "");
                } else {
                    EXPECT_FALSE(function.contains("name"));
                    told.calls.at(call["index"].get<std::size_t>()).second +=
                        function["arguments"].get<std::string>();
                }
            }
        }
        EXPECT_EQ(events.back(), "[DONE]");
        return told;
    }

    // Both ways, and cut in several ways, must be the same.
    Told tellInAllWays(const std::string& text, const std::string& patch = "{}",
                       const engine::FinishInfo& finish = stop()) {
        const Told whole = tell(text, false, text.size(), patch, finish);
        EXPECT_EQ(tell(text, false, 1, patch, finish), whole) << text;
        EXPECT_EQ(tell(text, true, 1, patch, finish), whole) << text;
        EXPECT_EQ(tell(text, true, 7, patch, finish), whole) << text;
        return whole;
    }
};

const std::string kWeather = R"({"city": "Paris", "days": 2})";

/// A word of a template that tells its dialect, and a call as that dialect writes it.
struct Dialect {
    const char* sign;
    std::string text;
};

std::vector<Dialect> dialects() {
    const std::string call = R"({"name": "look", "arguments": )" + kWeather + "}";
    const std::string llama = R"({"name": "look", "parameters": )" + kWeather + "}";
    return {
        {"<tool_call>", "<tool_call>\n" + call + "\n</tool_call>"},
        {"<parameter=",
         "<tool_call>\n<function=look>\n<parameter=city>\nParis\n</parameter>\n"
         "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>"},
        {"<minimax:tool_call>",
         "<minimax:tool_call>\n<invoke name=\"look\">\n<parameter name=\"city\">Paris</parameter>"
         "\n<parameter name=\"days\">2</parameter>\n</invoke>\n</minimax:tool_call>"},
        {"<arg_key>",
         "<tool_call>look\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
         "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>"},
        {"<|python_tag|>", llama},
        {"[TOOL_CALLS]", "[TOOL_CALLS][" + call + "]"},
        {"<｜tool▁call▁begin｜>",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n" +
             kWeather + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
        {"<|tool_call_begin|>",
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0"
         "<|tool_call_argument_begin|>" +
             kWeather + "<|tool_call_end|><|tool_calls_section_end|>"},
        {"<|channel|>", "<|channel|>commentary to=functions.look <|constrain|>json<|message|>" +
                            kWeather + "<|call|>"},
        {"<|tool_call|>", "<|tool_call|>[" + call + "]<|/tool_call|>"},
        {"<|START_ACTION|>", R"(<|START_ACTION|>[{"tool_name": "look", "parameters": )" + kWeather +
                                 "}]<|END_ACTION|>"},
        {"<function=", "<function=look>" + kWeather + "</function>"},
        {"functools[", "functools[" + call + "]"},
        {"<|tool_call_start|>", "<|tool_call_start|>[look(city='Paris', days=2)]<|tool_call_end|>"},
        {"<|tool_call>", "<|tool_call>call:look{city:<|\"|>Paris<|\"|>,days:2}<tool_call|>"},
    };
}

TEST_F(ToolCallsTest, EveryDialectIsOneToTheClient) {
    for (const Dialect& dialect : dialects()) {
        m_engine.speakLike(std::string("{# ") + dialect.sign + " #}");
        EXPECT_EQ(tellInAllWays(dialect.text), (Told{.content = "",
                                                     .reasoning = "",
                                                     .calls = {{"look", kWeather}},
                                                     .finish = "tool_calls"}))
            << dialect.sign;
    }
}

TEST_F(ToolCallsTest, WhatIsNoCallIsText) {
    m_engine.speakLike("{# <tool_call> <think> #}");
    const std::string broken = "See: <tool_call>{nothing}</tool_call> and so on";
    EXPECT_EQ(tellInAllWays(broken),
              (Told{.content = broken, .reasoning = "", .calls = {}, .finish = "stop"}));
    const std::string call = dialects()[0].text;
    EXPECT_EQ(tellInAllWays(call, R"({"tool_choice": "none"})"),
              (Told{.content = call, .reasoning = "", .calls = {}, .finish = "stop"}));
}

TEST_F(ToolCallsTest, ReasoningComesFirstAndApart) {
    m_engine.speakLike("{# <tool_call> <think> #}");
    const std::string call = dialects()[0].text;
    EXPECT_EQ(tellInAllWays("<think>\nWhy not?\n</think>\n\nLet me look.\n" + call + call),
              (Told{.content = "Let me look.\n",
                    .reasoning = "Why not?\n",
                    .calls = {{"look", kWeather}, {"look", kWeather}},
                    .finish = "tool_calls"}));
}

TEST_F(ToolCallsTest, OneCallAtMostWhenSoAsked) {
    m_engine.speakLike("{# <tool_call> #}");
    const std::string call = dialects()[0].text;
    EXPECT_EQ(tellInAllWays(call + "\n" + call, R"({"parallel_tool_calls": false})").calls.size(),
              1U);
}

TEST_F(ToolCallsTest, AReplyThatWasCutSaysSo) {
    m_engine.speakLike("{# <tool_call> #}");
    engine::FinishInfo cut;
    cut.reason = engine::FinishReason::kLength;
    EXPECT_EQ(tellInAllWays(R"(<tool_call>{"name": "look", "arguments": {"city": "Par)", "{}", cut),
              (Told{.content = "",
                    .reasoning = "",
                    .calls = {{"look", R"({"city": "Par)"}},
                    .finish = "length"}));
}

TEST_F(ToolCallsTest, ReasoningIsCounted) {
    m_engine.speakLike("{# <think> #}");
    test::RawConnection connection(m_server->port());
    connection.send(test::httpRequest("POST", "/v1/chat/completions", body(false)));
    const auto id = waitRunning(1).at(0);
    m_engine.say(id, "<think>abc");
    m_engine.say(id, "</think>");
    m_engine.say(id, "four");
    m_engine.finish(id, stop());
    const Json usage = Json::parse(test::bodyOf(connection.readAnswer()))["usage"];
    EXPECT_EQ(usage["completion_tokens"], 22) << "a token a byte";
    EXPECT_EQ(usage["completion_tokens_details"]["reasoning_tokens"], 18);
}

TEST_F(ToolCallsTest, LogprobsOfHiddenMarksAreTold) {
    m_engine.speakLike("{# <think> #}");
    test::RawConnection connection(m_server->port());
    connection.send(
        test::httpRequest("POST", "/v1/chat/completions", body(true, R"({"logprobs": true})")));
    const auto id = waitRunning(1).at(0);
    for (const char* piece : {"<think>", "x", "</think>", "y"}) {
        m_engine.say(id, piece, {{.token = 1, .logprob = -1.0F, .bytes = piece}});
    }
    m_engine.finish(id, stop());
    std::string tokens;
    for (const std::string& event : eventsOf(connection.readUntil("0\r\n\r\n"))) {
        const Json chunk = Json::parse(event, nullptr, false);
        if (chunk.is_object() && chunk["choices"][0]["logprobs"].is_object()) {
            for (const Json& token : chunk["choices"][0]["logprobs"]["content"]) {
                tokens += token["token"].get<std::string>();
            }
        }
    }
    EXPECT_EQ(tokens, "<think>x</think>y");
}

}  // namespace
}  // namespace quern::app
