#include "engine/reply_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>
#include <vector>

#include "engine/text.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

struct Reply {
    std::string content;
    std::string reasoning;
    std::vector<std::pair<std::string, std::string>> calls;  // name, arguments
    bool operator==(const Reply&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Reply& reply) {
    out << "content [" << reply.content << "] reasoning [" << reply.reasoning << "]";
    for (const auto& [name, arguments] : reply.calls) {
        out << " call " << name << " [" << arguments << "]";
    }
    return out;
}

const std::vector<std::string> kTools = {
    R"({"type": "function", "function": {"name": "add", "parameters": {"type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}}})",
    R"({"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}})",
    R"({"type": "function", "function": {"name": "put", "parameters": {"type": "object",
        "properties": {"text": {"type": "string"}, "on": {"type": "boolean"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "tags": {"type": "array"},
        "either": {"type": ["string", "integer"]}}}}})"};

/// Puts deltas back together, and checks what must hold of each.
class Collector {
public:
    void take(const std::vector<ReplyDelta>& deltas) {
        for (const ReplyDelta& delta : deltas) {
            EXPECT_FALSE(delta.text.empty());
            switch (delta.kind) {
                case ReplyDelta::Kind::kContent:
                    m_reply.content += delta.text;
                    break;
                case ReplyDelta::Kind::kReasoning:
                    m_reply.reasoning += delta.text;
                    break;
                case ReplyDelta::Kind::kCallName:
                    EXPECT_EQ(delta.call, m_reply.calls.size());
                    m_reply.calls.emplace_back(delta.text, "");
                    break;
                case ReplyDelta::Kind::kCallArguments:
                    ASSERT_LT(delta.call, m_reply.calls.size());
                    m_reply.calls[delta.call].second += delta.text;
                    break;
            }
        }
    }
    [[nodiscard]] const Reply& reply() const { return m_reply; }

private:
    Reply m_reply;
};

Reply parse(const ReplyFormat& format, const std::string& promptEnd, const std::string& text,
            const std::vector<std::size_t>& cuts, const std::vector<std::string>& tools = kTools) {
    ReplyParser parser(format, promptEnd, tools);
    Collector collector;
    std::size_t from = 0;
    for (const std::size_t cut : cuts) {
        collector.take(parser.push(std::string_view(text).substr(from, cut - from)));
        from = cut;
    }
    collector.take(parser.push(std::string_view(text).substr(from)));
    collector.take(parser.finish());
    return collector.reply();
}

/// Whole, byte by byte and cut at random must be the same; gives the reply.
Reply parseInAllCuts(const ReplyFormat& format, const std::string& promptEnd,
                     const std::string& text, std::mt19937& random) {
    const Reply whole = parse(format, promptEnd, text, {});
    std::vector<std::size_t> each;
    for (std::size_t i = 1; i < text.size(); ++i) {
        each.push_back(i);
    }
    EXPECT_EQ(parse(format, promptEnd, text, each), whole) << text;
    std::vector<std::size_t> some;
    for (std::size_t i = 1; i < text.size(); i += 1 + random() % 9) {
        some.push_back(i);
    }
    EXPECT_EQ(parse(format, promptEnd, text, some), whole) << text;
    return whole;
}

struct Case {
    CallDialect dialect;
    std::string text;
    Reply expected;
};

const std::string kWeather = R"({"city": "Paris", "days": 2})";
const Reply kOneCall = {.content = "", .reasoning = "", .calls = {{"get_weather", kWeather}}};
const Reply kTwoCalls = {
    .content = "", .reasoning = "", .calls = {{"get_weather", kWeather}, {"add", R"({"a": 1})"}}};

std::vector<Case> cases() {
    const std::string one = R"({"name": "get_weather", "arguments": )" + kWeather + "}";
    const std::string two = R"({"name": "add", "arguments": {"a": 1}})";
    return {
        {CallDialect::kHermes, "<tool_call>\n" + one + "\n</tool_call>", kOneCall},
        {CallDialect::kHermes,
         "<tool_call>\n" + one + "\n</tool_call>\n<tool_call>\n" + two + "\n</tool_call>",
         kTwoCalls},
        {CallDialect::kHermes,
         "Sure.\n<tool_call>" + one + "</tool_call> Done",
         {.content = "Sure.\n Done", .reasoning = "", .calls = kOneCall.calls}},
        {CallDialect::kHermes,
         R"(<tool_call>{"arguments": {"a": 1}, "name": "add"}</tool_call>)",
         {.content = "", .reasoning = "", .calls = {{"add", R"({"a": 1})"}}}},
        {CallDialect::kHermes,
         R"(<tool_call>{"name": "add"}</tool_call>)",
         {.content = "", .reasoning = "", .calls = {{"add", "{}"}}}},
        {CallDialect::kHermes,
         R"(<tool_call>{"name": "add", "arguments": "{\"a\": \"}\\\"\"}"}</tool_call>)",
         {.content = "", .reasoning = "", .calls = {{"add", R"({"a": "}\""})"}}}},
        // What is no call stays text, marks included.
        {CallDialect::kHermes,
         "<tool_call>not json</tool_call>",
         {.content = "<tool_call>not json</tool_call>", .reasoning = "", .calls = {}}},
        {CallDialect::kHermes,
         R"(<tool_call>{"nome": 1}</tool_call>)",
         {.content = R"(<tool_call>{"nome": 1}</tool_call>)", .reasoning = "", .calls = {}}},
        {CallDialect::kHermes,
         "a <tool b <tool_calx",
         {.content = "a <tool b <tool_calx", .reasoning = "", .calls = {}}},
        {CallDialect::kHermes,
         R"(<tool_call>{"name": "get)",
         {.content = R"(<tool_call>{"name": "get)", .reasoning = "", .calls = {}}},
        // Cut inside the arguments: all that was written is there.
        {CallDialect::kHermes,
         R"(<tool_call>{"name": "add", "arguments": {"a": 1, "b)",
         {.content = "", .reasoning = "", .calls = {{"add", R"({"a": 1, "b)"}}}},
        {CallDialect::kQwenCoder,
         "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
         "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
         kOneCall},
        {CallDialect::kQwenCoder,
         "<tool_call>\n<function=get_weather>\n<parameter=city>\n12\n</parameter>\n</function>\n"
         "</tool_call>",
         {.content = "", .reasoning = "", .calls = {{"get_weather", R"({"city": "12"})"}}}},
        {CallDialect::kQwenCoder,
         "<tool_call>\nno function\n</tool_call>",
         {.content = "<tool_call>\nno function\n</tool_call>", .reasoning = "", .calls = {}}},
        {CallDialect::kInvoke,
         "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris"
         "</parameter>\n<parameter name=\"days\">2</parameter>\n</invoke>\n<invoke name=\"add\">\n"
         "<parameter name=\"a\">1</parameter>\n</invoke>\n</minimax:tool_call>",
         kTwoCalls},
        {CallDialect::kInvoke,
         "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n"
         "<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n"
         "<｜DSML｜parameter name=\"days\" string=\"false\">2</｜DSML｜parameter>\n"
         "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
         kOneCall},
        {CallDialect::kGlm,
         "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
         "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>add\n"
         "<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
         kTwoCalls},
        {CallDialect::kLlama3, R"({"name": "get_weather", "parameters": )" + kWeather + "}",
         kOneCall},
        {CallDialect::kLlama3,
         R"(<|python_tag|>{"name": "get_weather", "parameters": )" + kWeather + "}<|eom_id|>",
         kOneCall},
        {CallDialect::kLlama3, "<function=get_weather>" + kWeather + "</function>", kOneCall},
        {CallDialect::kLlama3,
         R"({"answer": {"name": 5}})",
         {.content = R"({"answer": {"name": 5}})", .reasoning = "", .calls = {}}},
        {CallDialect::kLlama3,
         R"(Use {"name": "x"})",
         {.content = R"(Use {"name": "x"})", .reasoning = "", .calls = {}}},
        {CallDialect::kMistral, "[TOOL_CALLS][" + one + ", " + two + "]", kTwoCalls},
        {CallDialect::kMistral, "[TOOL_CALLS] [" + one + "]", kOneCall},
        {CallDialect::kMistral,
         "[TOOL_CALLS]get_weather[ARGS]" + kWeather + R"([TOOL_CALLS]add[ARGS]{"a": 1})",
         kTwoCalls},
        {CallDialect::kMistral, "[TOOL_CALLS]get_weather" + kWeather, kOneCall},
        {CallDialect::kDeepSeek,
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n" +
             kWeather +
             "\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n"
             "{\"a\": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         kTwoCalls},
        {CallDialect::kDeepSeek,
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>" + kWeather +
             "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         kOneCall},
        {CallDialect::kDeepSeek,
         "Here: ```json\n{}\n```",
         {.content = "Here: ```json\n{}\n```", .reasoning = "", .calls = {}}},
        {CallDialect::kKimi,
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
         "<|tool_call_argument_begin|>" +
             kWeather + "<|tool_call_end|><|tool_calls_section_end|>",
         kOneCall},
        {CallDialect::kPhi, "<|tool_call|>[" + one + "," + two + "]<|/tool_call|>", kTwoCalls},
        {CallDialect::kCommandR,
         R"(<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": )" +
             kWeather + "}]<|END_ACTION|>",
         kOneCall},
        {CallDialect::kCommandR,
         "Action: ```json\n[{\"tool_name\": \"get_weather\", \"parameters\": " + kWeather +
             "}]\n```",
         kOneCall},
        {CallDialect::kFunctionary,
         "<function=get_weather>" + kWeather + "</function><function=add>{\"a\": 1}</function>",
         kTwoCalls},
        {CallDialect::kFunctools, "functools[" + one + ", " + two + "]", kTwoCalls},
        {CallDialect::kFunctools,
         "functools are nice",
         {.content = "functools are nice", .reasoning = "", .calls = {}}},
        {CallDialect::kPythonic, "[get_weather(city=\"Paris\", days=2), add(a=1)]", kTwoCalls},
        {CallDialect::kPythonic,
         "<|tool_call_start|>[get_weather(city='Paris', days=2)]<|tool_call_end|>", kOneCall},
        {CallDialect::kPythonic,
         "[f(x=[True, None, {'k': (1, 2)}], s='a\\'b, (c')]",
         {.content = "",
          .reasoning = "",
          .calls = {{"f", R"({"x": [true, null, {"k": [1, 2]}], "s": "a'b, (c"})"}}}},
        {CallDialect::kPythonic,
         "[1, 2, 3]",
         {.content = "[1, 2, 3]", .reasoning = "", .calls = {}}},
        {CallDialect::kGemma,
         "<|tool_call>call:get_weather{city:<|\"|>Paris<|\"|>,days:2}<tool_call|>", kOneCall},
        {CallDialect::kGemma,
         "<|tool_call>call:f{o:{k:[1,<|\"|>a,b<|\"|>]},t:true}<tool_call|>",
         {.content = "",
          .reasoning = "",
          .calls = {{"f", R"({"o": {"k": [1, "a,b"]}, "t": true})"}}}},
        {CallDialect::kHarmony,
         "<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>commentary "
         "to=functions.get_weather <|constrain|>json<|message|>" +
             kWeather + "<|call|>",
         {.content = "", .reasoning = "Think.", .calls = kOneCall.calls}},
        {CallDialect::kHarmony,
         "<|channel|>final<|message|>Hi <there><|return|>",
         {.content = "Hi <there>", .reasoning = "", .calls = {}}},
        {CallDialect::kHarmony,
         "no marks at all",
         {.content = "no marks at all", .reasoning = "", .calls = {}}},
    };
}

/// Marks that newer families have, and forms that templates print values in.
std::vector<Case> furtherCases() {
    const std::string one = R"({"name": "get_weather", "arguments": )" + kWeather + "}";
    const std::string two = R"({"name": "add", "arguments": {"a": 1}})";
    return {
        {CallDialect::kHermes, "<tool_calls>[" + one + ", " + two + "]</tool_calls>", kTwoCalls},
        {CallDialect::kHermes, "<tool_calls>\n" + one + "\n" + two + "\n</tool_calls>", kTwoCalls},
        {CallDialect::kHermes, "<TOOLCALL>[" + one + "]</TOOLCALL>", kOneCall},
        {CallDialect::kHermes, "<|function_call|>" + one, kOneCall},
        {CallDialect::kHermes, "<|message_sep|>\n\nfunction call<|role_sep|>\n" + one, kOneCall},
        {CallDialect::kHermes, "<|action_start|><|plugin|>\n" + one + "<|action_end|>", kOneCall},
        {CallDialect::kHermes,
         "<|tools_prefix|>[{\"get_weather\": " + kWeather + "}, {\"add\": {\"a\": 1}}]" +
             "<|tools_suffix|>",
         kTwoCalls},
        {CallDialect::kHermes,
         "<tool_calls>[" + one + "</tool_calls>",
         {.content = "", .reasoning = "", .calls = kOneCall.calls}},
        {CallDialect::kHermes,
         "{" + one + "}",
         {.content = "{" + one + "}", .reasoning = "", .calls = {}}},
        {CallDialect::kQwenCoder,
         "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n2\n"
         "</parameter>\n</function>\n</tool_call>",
         kOneCall},
        {CallDialect::kQwenCoder,
         "<function name=\"get_weather\"><param name=\"city\">Paris</param><param name=\"days\">2"
         "</param></function>\n<function name=\"add\"><param name=\"a\">1</param></function>",
         kTwoCalls},
        {CallDialect::kQwenCoder,
         "<function name=\"get_weather\"><param name=\"city\"><![CDATA[<b>\n</param>]]></param>"
         "</function>",
         {.content = "",
          .reasoning = "",
          .calls = {{"get_weather", R"({"city": "<b>\n</param>"})"}}}},
        // As Python prints them: a boolean, nothing, a list; a text stays what it is.
        {CallDialect::kQwenCoder,
         "<tool_call><function=put><parameter=on>True</parameter><parameter=text>True</parameter>"
         "<parameter=maybe>None</parameter><parameter=tags>['a', \"b'c\"]</parameter>"
         "<parameter=either>7</parameter><parameter=other>None</parameter></function></tool_call>",
         {.content = "",
          .reasoning = "",
          .calls = {{"put", R"({"on": true, "text": "True", "maybe": null, "tags": ["a", "b'c"], )"
                            R"("either": 7, "other": "None"})"}}}},
        {CallDialect::kGlm,
         "<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n"
         "<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Paris"
         "</arg_value:opensource>\n<arg_key:opensource>days</arg_key:opensource>\n"
         "<arg_value:opensource>2</arg_value:opensource>\n</tool_call:opensource>\n"
         "<tool_call:opensource>add<tool_sep:opensource>\n<arg_key:opensource>a"
         "</arg_key:opensource>\n<arg_value:opensource>1</arg_value:opensource>\n"
         "</tool_call:opensource>\n</tool_calls:opensource>",
         kTwoCalls},
        {CallDialect::kGlm,
         "<tool_call>get_weather<arg_key>city</arg_key><arg_value>a</tool_call><arg_key>"
         "</arg_value></tool_call>",
         {.content = "",
          .reasoning = "",
          .calls = {{"get_weather", R"({"city": "a</tool_call><arg_key>"})"}}}},
        {CallDialect::kLlama3, one + "; " + two, kTwoCalls},
        {CallDialect::kLlama3, "[" + one + ", " + two + "]", kTwoCalls},
        {CallDialect::kLlama3, "[1, 2]", {.content = "[1, 2]", .reasoning = "", .calls = {}}},
        {CallDialect::kMistral, "[TOOL_CALLS]get_weather[CALL_ID]abc123def[ARGS]" + kWeather,
         kOneCall},
        {CallDialect::kOpenTags,
         "<|open|>tools<|sep|><|open|>call tool=\"get_weather\" index=\"1\"<|sep|><|open|>argument "
         "key=\"city\" type=\"string\"<|sep|>Paris<|close|>argument<|sep|><|open|>argument "
         "key=\"days\" type=\"number\"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|open|>"
         "call tool=\"add\" index=\"2\"<|sep|><|open|>json type=\"object\"<|sep|>{\"a\": 1}"
         "<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
         kTwoCalls},
        {CallDialect::kSolar,
         "<|tool_calls|><|tool_call:begin|>x1<|tool_call:name|>get_weather<|tool_call:args|>" +
             kWeather + "<|tool_call:end|><|tool_call:begin|>x2<|tool_call:name|>add" +
             "<|tool_call:args|>{\"a\": 1}<|tool_call:end|><|calls|>",
         kTwoCalls},
        {CallDialect::kMiniMaxTree,
         "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"get_weather\">]<]minimax[>[<city>"
         "Paris]<]minimax[>[</city>]<]minimax[>[<days>2]<]minimax[>[</days>]<]minimax[>[</invoke>\n"
         "]<]minimax[>[<invoke "
         "name=\"add\">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>"
         "\n]<]minimax[>[</tool_call>",
         kTwoCalls},
        {CallDialect::kMiniMaxTree,
         "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"put\">]<]minimax[>[<tags>"
         "]<]minimax[>[<item>a > b]<]minimax[>[</item>]<]minimax[>[</tags>]<]minimax[>[<options>"
         "]<]minimax[>[<k>]<]minimax[>[<n>1]<]minimax[>[</n>]<]minimax[>[</k>]<]minimax[>["
         "</options>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
         {.content = "",
          .reasoning = "",
          .calls = {{"put", R"({"tags": ["a > b"], "options": {"k": {"n": 1}}})"}}}},
        {CallDialect::kArrows, ">>>get_weather\n" + kWeather + ">>>add\n{\"a\": 1}", kTwoCalls},
        {CallDialect::kPythonic,
         "<function_calls>\nget_weather(city='Paris', days=2)\nadd(a=1)\n</function_calls>",
         kTwoCalls},
        {CallDialect::kPythonic, R"({"name": "get_weather", "parameters": )" + kWeather + "}",
         kOneCall},
        {CallDialect::kPythonic,
         "[add(a=-2.5e-7, b=[1E+3, {'k': 0.5}], s='\\x41\\u00e9\\q')]",
         {.content = "",
          .reasoning = "",
          .calls = {{"add", R"({"a": -2.5e-7, "b": [1E+3, {"k": 0.5}], "s": "Aé\\q"})"}}}},
        {CallDialect::kRecipient,
         " to=self<|message|>Think.<|eom|><|start|>assistant to=get_weather<|message|>"
         "<atem:function_calls>\n<atem:invoke name=\"get_weather\">\n<atem:parameter name=\"city\">"
         "Paris</atem:parameter>\n<atem:parameter "
         "name=\"days\">2</atem:parameter>\n</atem:invoke>\n"
         "</atem:function_calls><|eot|>",
         {.content = "", .reasoning = "Think.", .calls = kOneCall.calls}},
        {CallDialect::kRecipient,
         " to=user<|message|>Hi <there><|eot|>",
         {.content = "Hi <there>", .reasoning = "", .calls = {}}},
        {CallDialect::kRecipient,
         "no marks at all",
         {.content = "no marks at all", .reasoning = "", .calls = {}}},
    };
}

std::vector<Case> allCases() {
    std::vector<Case> all = cases();
    const std::vector<Case> further = furtherCases();
    all.insert(all.end(), further.begin(), further.end());
    return all;
}

/// Replies in messages with headers have no marks of reasoning.
bool hasHeaders(CallDialect dialect) {
    return dialect == CallDialect::kHarmony || dialect == CallDialect::kRecipient;
}

TEST(ReplyParser, readsEveryDialectHoweverItIsCut) {
    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (const Case& expected : allCases()) {
        const ReplyFormat format = {
            .calls = expected.dialect, .reasoningOpen = "<think>", .reasoningClose = "</think>"};
        Reply wanted = expected.expected;
        EXPECT_EQ(parseInAllCuts(format, "", expected.text, random), wanted) << expected.text;
        if (!hasHeaders(expected.dialect)) {
            wanted.reasoning = "why";
            EXPECT_EQ(
                parseInAllCuts(format, "", "<think>\nwhy</think>\n\n" + expected.text, random),
                wanted)
                << expected.text;
            EXPECT_EQ(parseInAllCuts(format, "<think>\n", "why</think>" + expected.text, random),
                      wanted)
                << expected.text;
        }
    }
}

TEST(ReplyParser, withoutToolsCallsAreText) {
    for (const Case& each : allCases()) {
        if (hasHeaders(each.dialect)) {
            continue;
        }
        EXPECT_EQ(parse({.calls = each.dialect, .reasoningOpen = "", .reasoningClose = ""}, "",
                        each.text, {}, {}),
                  (Reply{.content = each.text, .reasoning = "", .calls = {}}));
    }
}

/// Says texts in which everything that looks like a mark is one control token.
class MarkTokenizer : public Tokenizer {
public:
    MarkTokenizer() : m_pieces(256) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            m_pieces[byte] = std::string(1, static_cast<char>(byte));
        }
    }
    std::vector<TokenId> say(const std::string& text) {
        static const std::regex kMark(
            R"(<\|[^<>]*\|>|<\|[a-z_]+>|<[a-z_]+\|>|</?(tool_call|think|arg_key|arg_value)>)"
            R"(|</?minimax:tool_call>|<｜[^<>]*｜>|｜DSML｜|\[[A-Z_]+\])");
        std::vector<TokenId> ids;
        for (std::size_t at = 0; at < text.size();) {
            std::smatch match;
            const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
            if (std::regex_search(begin, text.end(), match, kMark,
                                  std::regex_constants::match_continuous)) {
                m_pieces.push_back(match.str());
                ids.push_back(static_cast<TokenId>(m_pieces.size() - 1));
                at += match.str().size();
            } else {
                ids.push_back(static_cast<unsigned char>(text[at++]));
            }
        }
        return ids;
    }
    std::int32_t vocabSize() const override { return static_cast<std::int32_t>(m_pieces.size()); }
    Result<std::vector<TokenId>> encode(std::string_view, EncodeOptions) const override {
        return fail(ErrorCode::kUnsupported, "only speaks");
    }
    std::string_view tokenBytes(TokenId id) const override {
        return m_pieces.at(static_cast<std::size_t>(id));
    }
    bool isControl(TokenId id) const override { return id >= 256; }
    std::string decode(std::span<const TokenId> ids, bool) const override {
        std::string text;
        for (const TokenId id : ids) {
            text += tokenBytes(id);
        }
        return text;
    }
    std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }
    const SpecialTokens& special() const override { return m_special; }
    std::string description() const override { return "marks"; }
    bool addsSpacePrefix() const override { return false; }

private:
    std::vector<std::string> m_pieces;
    SpecialTokens m_special;
};

TEST(ReplyFormat, marksAreShownAndOtherControlTokensAreNot) {
    std::size_t shownMarks = 0;
    for (const Case& expected : allCases()) {
        if (expected.expected.calls.empty()) {
            continue;  // texts about marks, not of them
        }
        const ReplyFormat format = {
            .calls = expected.dialect, .reasoningOpen = "<think>", .reasoningClose = "</think>"};
        const std::string thought = hasHeaders(expected.dialect) ? "" : "<think>why</think>";
        MarkTokenizer tokenizer;
        const auto ids = tokenizer.say(thought + expected.text + "<|im_start|>");
        const auto marks = marksOf(format, true);
        std::vector<TokenId> shown;
        for (const TokenId id : ids) {
            if (std::ranges::count(marks, tokenizer.tokenBytes(id)) > 0) {
                shown.push_back(id);
            }
        }
        shownMarks += shown.size();
        Detokenizer detokenizer(tokenizer, true, TextStart::kBeginning, shown);
        std::string text;
        for (const TokenId id : ids) {
            text += detokenizer.push(id);
        }
        const Reply reply = parse(format, "", text, {});
        EXPECT_EQ(reply.calls, expected.expected.calls) << expected.text << "\nbecame\n" << text;
        EXPECT_EQ(reply.content.find("im_start"), std::string::npos) << reply.content;
        EXPECT_EQ(reply.content.find("<|"), std::string::npos) << reply.content;
    }
    EXPECT_GT(shownMarks, 50U);
    const ReplyFormat hermes = {
        .calls = CallDialect::kHermes, .reasoningOpen = "<think>", .reasoningClose = "</think>"};
    EXPECT_EQ(marksOf(hermes, false), (std::vector<std::string>{"<think>", "</think>"}));
    EXPECT_TRUE(marksOf({}, true).empty());
}

TEST(ReplyParser, argumentsComeWhileTheyAreWritten) {
    ReplyParser parser({.calls = CallDialect::kHermes, .reasoningOpen = "", .reasoningClose = ""},
                       "", kTools);
    EXPECT_TRUE(parser.push("<tool_call>{\"name\": \"add\"").empty());
    EXPECT_EQ(parser.push(", \"arguments\": {\"a\"").size(), 2U);
    EXPECT_EQ(parser.push(": 1").size(), 1U);
    EXPECT_EQ(parser.push("}").size(), 1U);
    EXPECT_TRUE(parser.push("}</tool_call>").empty());
    EXPECT_TRUE(parser.finish().empty());
}

TEST(ReplyParser, reasoningThatIsNotClosedStaysReasoning) {
    const ReplyFormat format = {
        .calls = CallDialect::kHermes, .reasoningOpen = "<think>", .reasoningClose = "</think>"};
    EXPECT_EQ(parse(format, "", "<think>still at it</thi", {}),
              (Reply{.content = "", .reasoning = "still at it</thi", .calls = {}}));
    EXPECT_EQ(parse(format, "", "a <think> b", {}),
              (Reply{.content = "a <think> b", .reasoning = "", .calls = {}}));
}

TEST(ReplyParser, randomTextIsNeverLostAndNeverDependsOnCuts) {
    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto all = allCases();
    for (int round = 0; round < 400; ++round) {
        // Pieces of real replies in any order, cut anywhere.
        std::string text;
        for (int i = 0; i < 4; ++i) {
            const std::string& source = all[random() % all.size()].text;
            const std::size_t from = random() % source.size();
            text += source.substr(from, random() % 60);
        }
        const Case& like = all[random() % all.size()];
        const ReplyFormat format = {
            .calls = like.dialect, .reasoningOpen = "<think>", .reasoningClose = "</think>"};
        const Reply reply = parseInAllCuts(format, "", text, random);
        if (reply.calls.empty() && reply.reasoning.empty() &&
            like.dialect == CallDialect::kHermes) {
            EXPECT_EQ(reply.content, text);
        }
    }
}

TEST(ReplyParser, marksAroundTheAnswerAreNoPartOfIt) {
    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    struct Framed {
        std::string source;  // what a template says
        std::string promptEnd;
        std::string text;
        Reply expected;
    };
    const Framed framed[] = {
        {"<think>\n<response></response>",
         "",
         "<think>why</think>\n<response>Hi <b>.</response>",
         {.content = "Hi <b>.", .reasoning = "why", .calls = {}}},
        {"<think>\n<response></response>",
         "",
         "In XML: <response>x</response>",
         {.content = "In XML: <response>x</response>", .reasoning = "", .calls = {}}},
        {R"("<|begin|>assistant<|think|>" + message <|tool_call:begin|>)",
         "<|begin|>assistant",
         "<|think|>why<|end|><|begin|>assistant<|content|>Hi<|end|>",
         {.content = "Hi", .reasoning = "why", .calls = {}}},
        {"open_tag('think open_tag('response <|open|>",
         "<|open|>think<|sep|>",
         "why<|close|>think<|sep|><|open|>response<|sep|>Hi<|close|>response<|sep|><|close|>message"
         "<|sep|>",
         {.content = "Hi", .reasoning = "why", .calls = {}}},
        {">>>all",
         "<|end_header_id|>\n\n>>>",
         "all\nHi",
         {.content = "Hi", .reasoning = "", .calls = {}}},
        {">>>all", "<|end_header_id|>\n\n>>>", "get_weather\n" + kWeather, kOneCall},
        {">>>all",
         "<|end_header_id|>\n\n>>>",
         "all\nHi>>>get_weather\n" + kWeather,
         {.content = "Hi", .reasoning = "", .calls = kOneCall.calls}},
        {">>>all",
         "<|end_header_id|>\n\n>>>",
         "Just words, no recipient",
         {.content = "Just words, no recipient", .reasoning = "", .calls = {}}},
        {"[BEGIN FINAL RESPONSE]",
         "Here are my reasoning steps:\n",
         "why\n[BEGIN FINAL RESPONSE]\nHi",
         {.content = "Hi", .reasoning = "why\n", .calls = {}}},
        {"<|channel>thought <|tool_call>",
         "",
         "<|channel>thought\nwhy\n<channel|>Hi",
         {.content = "Hi", .reasoning = "why\n", .calls = {}}},
    };
    for (const Framed& each : framed) {
        const ReplyFormat format = recognizeReplyFormat(each.source);
        EXPECT_EQ(parseInAllCuts(format, each.promptEnd, each.text, random), each.expected)
            << each.text;
    }
    EXPECT_EQ(parse(recognizeReplyFormat("<|START_RESPONSE|>"), "",
                    "<|START_RESPONSE|>Hi<|END_RESPONSE|>", {}, {}),
              (Reply{.content = "Hi", .reasoning = "", .calls = {}}));
    // They go without tools as well.
    EXPECT_EQ(parse(recognizeReplyFormat(">>>all"), ">>>", "all\nHi", {}, {}),
              (Reply{.content = "Hi", .reasoning = "", .calls = {}}));
}

TEST(ReplyFormat, isRecognizedFromRealTemplates) {
    QUERN_GOLDEN_OR_SKIP(folder, "chat-templates");
    const std::pair<const char*, CallDialect> expected[] = {
        {"Qwen-Qwen2.5-7B-Instruct.jinja", CallDialect::kHermes},
        {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja", CallDialect::kHermes},
        {"Qwen3-Coder.jinja", CallDialect::kQwenCoder},
        {"ByteDance-Seed-OSS.jinja", CallDialect::kQwenCoder},
        {"MiniMax-M2.jinja", CallDialect::kInvoke},
        {"deepseek-ai-DeepSeek-V3.2.jinja", CallDialect::kInvoke},
        {"GLM-4.7-Flash.jinja", CallDialect::kGlm},
        {"meta-llama-Llama-3.1-8B-Instruct.jinja", CallDialect::kLlama3},
        {"meta-llama-Llama-3.3-70B-Instruct.jinja", CallDialect::kLlama3},
        {"mistralai-Mistral-Nemo-Instruct-2407.jinja", CallDialect::kMistral},
        {"unsloth-mistral-Devstral-Small-2507.jinja", CallDialect::kMistral},
        {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja", CallDialect::kDeepSeek},
        {"Kimi-K2-Thinking.jinja", CallDialect::kKimi},
        {"openai-gpt-oss-120b.jinja", CallDialect::kHarmony},
        {"CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja", CallDialect::kCommandR},
        {"CohereForAI-c4ai-command-r-plus-tool_use.jinja", CallDialect::kCommandR},
        {"meetkai-functionary-medium-v3.1.jinja", CallDialect::kFunctionary},
        {"fireworks-ai-llama-3-firefunction-v2.jinja", CallDialect::kFunctools},
        {"LFM2-8B-A1B.jinja", CallDialect::kPythonic},
        {"google-gemma-4-31B-it-interleaved.jinja", CallDialect::kGemma},
        {"Apertus-8B-Instruct.jinja", CallDialect::kHermes},
        {"Apriel-1.6-15b-Thinker-fixed.jinja", CallDialect::kHermes},
        {"GigaChat3.1-10B-A1.8B.jinja", CallDialect::kHermes},
        {"MiniMax-M3.jinja", CallDialect::kMiniMaxTree},
        {"muse-glimmer.jinja", CallDialect::kRecipient},
        {"tencent-Hy3.jinja", CallDialect::kGlm},
        {"microsoft-Phi-3.5-mini-instruct.jinja", CallDialect::kNone},
    };
    for (const auto& [file, dialect] : expected) {
        EXPECT_EQ(recognizeReplyFormat(test::readFile(folder / "templates" / file)).calls, dialect)
            << file;
    }
    EXPECT_EQ(recognizeReplyFormat(test::readFile(folder / "templates" / "Qwen3.5-4B.jinja"))
                  .reasoningOpen,
              "<think>");
}

}  // namespace
}  // namespace quern::engine
