// What a template is given, and what it may use up.
#include "engine/text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/golden.h"

namespace quern::engine {
namespace {

Result<std::string> renderSource(const std::string& source, const std::string& messages = "[]") {
    auto made = ChatTemplate::create(source);
    if (!made) {
        return tl::unexpected(made.error());
    }
    TemplateInput input;
    input.messages = messages;
    input.now = 0;
    return (*made)->render(input);
}

std::string manyTimes(const std::string& text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
        out += text;
    }
    return out;
}

TEST(ChatTemplate, namesLineAndReasonOfWhatDoesNotParse) {
    const auto made = ChatTemplate::create("a\nb\n{% if x %}\n{{ 1 + }}\n");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(made.error().message.find("line 4"), std::string::npos) << made.error().message;
    EXPECT_FALSE(ChatTemplate::create("caf\xE9"));
    EXPECT_FALSE(ChatTemplate::create("{% include 'x' %}"));
}

TEST(ChatTemplate, refusalIsTheTemplatesSentenceAlone) {
    const auto text = renderSource("x\n{{ raise_exception('Roles must alternate') }}");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(text.error().message, "Roles must alternate");
    EXPECT_NE(text.error().cause.find("line 2"), std::string::npos);
}

TEST(ChatTemplate, namesTheLineOfARunTimeError) {
    const auto text = renderSource("x\ny\n{{ nothing.attribute }}");
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().message.find("line 3: UndefinedError: 'nothing' is undefined"),
              std::string::npos)
        << text.error().message;
}

TEST(ChatTemplate, saysWhichInputIsNoJson) {
    const auto made = ChatTemplate::create("x");
    ASSERT_TRUE(made);
    TemplateInput input;
    for (const char* wrong : {"", "[", "{}", "5", "[1,]", "[\"\\ud800\"]", "[\"\xFF\"]"}) {
        input.messages = wrong;
        const bool isFine = std::string(wrong).empty();
        EXPECT_EQ(static_cast<bool>((*made)->render(input)), isFine) << wrong;
        EXPECT_EQ(static_cast<bool>((*made)->renderChat(input)), isFine) << wrong;
    }
    input.messages = "[]";
    input.kwargs = "[]";
    const auto text = (*made)->render(input);
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().message.find("kwargs"), std::string::npos);
}

TEST(ChatTemplate, keepsIntegersOfAnySize) {
    const auto text = renderSource("{{ messages[0] }} {{ messages | tojson }}",
                                   "[18446744073709551616, -5, 1.50]");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, "18446744073709551616 [18446744073709551616, -5, 1.5]");
}

TEST(ChatTemplate, isBoundedInStepsOutputMemoryAndDepth) {
    const std::string loop = "{% for i in range(100000) %}";
    const std::string hostile[] = {
        loop + loop + loop + "{% endfor %}{% endfor %}{% endfor %}",
        loop + "{{ 'x' * 100000 }}{% endfor %}",
        "{{ 'x' * 100000 * 100000 }}",
        "{% set ns = namespace(s='x') %}" + loop + "{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(l=[1]) %}" + loop + "{% set ns.l = ns.l + ns.l %}{% endfor %}",
        "{% set ns = namespace(l=[]) %}" + loop +
            "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
        "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
        "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
        "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}",
        "{% set l = [] %}{% set _ = l.append(l) %}{% set k = [] %}{% set _ = k.append(k) %}{{ l == "
        "k }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '{:999999999}'.format(1) }}",
        "{{ '%.999999999f' % 1.5 }}",
        "{{ 'x'.ljust(99999999999) }}",
        "{{ 'x'.zfill(99999999999) }}",
        "{{ ('x' * 1000000).replace('', 'y' * 1000000) }}",
        "{{ 2 ** 99999999 }}",
        "{{ 9223372036854775807 + 1 }}",
        "{{ (-9223372036854775807 - 1) // -1 }}",
        "{{ 'a' | indent(99999999999) }}",
        "{{ [1] | batch(99999999999, 0) | list }}",
        "{{ [1] | slice(99999999999, 0) | list }}",
        manyTimes("{{ ", 1) + manyTimes("(", 5000) + "1" + manyTimes(")", 5000) + " }}",
        "{{ " + manyTimes("1 + ", 5000) + "1 }}",
        "{{ x" + manyTimes(".a", 5000) + " }}",
        "{{ x" + manyTimes("|upper", 5000) + " }}",
        "{{ " + manyTimes("not ", 5000) + "x }}",
        "{{ " + manyTimes("-", 5000) + "1 }}",
        "{{ " + manyTimes("[", 5000) + manyTimes("]", 5000) + " }}",
        manyTimes("{% if true %}", 5000) + manyTimes("{% endif %}", 5000),
        "{{ 1" + manyTimes(" if 1 else 1", 5000) + " }}",
    };
    for (const std::string& source : hostile) {
        const auto text = renderSource(source);
        EXPECT_FALSE(text) << source.substr(0, 100);
    }
}

TEST(ChatTemplate, deepButHonestTemplatesRender) {
    EXPECT_EQ(renderSource("{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}x{% endif %}{% endmacro %}"
                           "{{ m(100) }}")
                  .value_or("failed"),
              std::string(100, 'x'));
    EXPECT_EQ(renderSource("{{ " + manyTimes("'x' ~ ", 200) + "'x' }}").value_or("failed"),
              std::string(201, 'x'));
}

TEST(ChatTemplate, namesThatOutliveTheirLoopAreSafe) {
    // Macros, loops and generators kept in a namespace still look at where they were made.
    EXPECT_TRUE(
        renderSource("{% set ns = namespace() %}{% for i in [1, 2] %}"
                     "{% macro m() %}{{ i }}{% endmacro %}{% set ns.m = m %}{% endfor %}"
                     "{{ ns.m() }}"));
    EXPECT_TRUE(
        renderSource("{% set ns = namespace() %}{% for i in [1, 2] if i %}"
                     "{% set ns.l = loop %}{% endfor %}{{ ns.l.index }}{{ ns.l.last }}"));
    EXPECT_TRUE(
        renderSource("{% set ns = namespace() %}{% for i in [1, 2] %}"
                     "{% set ns.g = [i] | map('string') %}{% endfor %}{{ ns.g | list }}"));
    (void)renderSource(
        "{% set ns = namespace() %}{% for i in [[1]] recursive %}"
        "{% set ns.l = loop %}{% endfor %}{{ ns.l([2]) }}");
}

/// Cuts, doubles, swaps and overwrites at random places.
std::string mutated(std::string text, std::mt19937& random) {
    static const std::string kPieces[] = {"{{",   "}}", "{%",        "%}",       "{#",  "#}",
                                          "|",    "'",  "(",         ")",        "[",   "]",
                                          ".",    "-",  "for x in ", "endfor",   "if ", "loop",
                                          "\xE4", "0",  "range(9)",  "set ns = "};
    const int edits = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < edits && !text.empty(); ++i) {
        const std::size_t at = random() % text.size();
        const std::size_t length = std::min<std::size_t>(random() % 40, text.size() - at);
        switch (random() % 4) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, text.substr(random() % text.size(), length));
                break;
            case 2:
                text.insert(at, kPieces[random() % std::size(kPieces)]);
                break;
            default:
                text[at] = static_cast<char>(random() % 128);
        }
    }
    return text;
}

TEST(ChatTemplate, mutatedTemplatesEndInTextOrInAnError) {
    QUERN_GOLDEN_OR_SKIP(folder, "chat-templates");
    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto golden = test::readJson(folder / "expected.json");
    for (const auto& [file, results] : golden.at("expected").items()) {
        const std::string source = test::readFile(folder / "templates" / file);
        for (int round = 0; round < 6; ++round) {
            const auto made = ChatTemplate::create(mutated(source, random));
            if (!made) {
                EXPECT_FALSE(made.error().message.empty());
                continue;
            }
            for (const char* name : {"parallel-tool-calls", "content-parts"}) {
                const auto& conversation = golden.at("conversations").at(name);
                TemplateInput input;
                input.messages = conversation.at("messages").dump();
                if (conversation.contains("tools")) {
                    input.tools = conversation.at("tools").dump();
                }
                const auto text = (*made)->renderChat(input);
                EXPECT_TRUE(text || !text.error().message.empty()) << file;
            }
        }
    }
}

}  // namespace
}  // namespace quern::engine
