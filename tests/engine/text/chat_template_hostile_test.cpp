// Templates that are broken, or would take all there is: each must end in an error that says why,
// in bounded time and memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/text.h"

namespace quern::engine {
namespace {

std::string troubleWith(const std::string& source, const std::string& messages = "[]") {
    auto made = ChatTemplate::create(source);
    if (!made) {
        EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
        return made.error().message;
    }
    TemplateInput input;
    input.messages = messages;
    input.now = 0;
    const auto text = (*made)->render(input);
    EXPECT_TRUE(text || text.error().code == ErrorCode::kInvalidArgument);
    return text ? "" : text.error().message;
}

std::string manyOf(const std::string& text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
        out += text;
    }
    return out;
}

struct Wrong {
    std::string source;
    const char* names;
};

void expectEachNamed(const std::vector<Wrong>& wrongs) {
    for (const Wrong& wrong : wrongs) {
        const std::string trouble = troubleWith(wrong.source);
        EXPECT_NE(trouble.find(wrong.names), std::string::npos)
            << wrong.source.substr(0, 120) << ": " << trouble;
        EXPECT_LT(trouble.size(), 1000U) << wrong.source.substr(0, 120);
    }
}

TEST(ChatTemplateMalformed, EachNamesItsLineAndReason) {
    expectEachNamed({
        {"a\n{{ x", "line 2"},
        {"{% if x %}a", "line 1"},
        {"a\n\n{% for x in y %}", "line 3"},
        {"{# never ends", "line 1"},
        {"{% raw %}{{ x }}", "line 1"},
        {"{{ 'text }}", "line 1"},
        {"{% endfor %}", "endfor"},
        {"{% if x %}{% endfor %}", "endfor"},
        {"{% else %}", "else"},
        {"{% unheard %}", "unheard"},
        {"{{ x | unheard }}", "unheard"},
        {"{{ x is unheard }}", "unheard"},
        {"{{ unheard() }}", "unheard"},
        {"{{ 'x'.unheard() }}", "unheard"},
        {"{% set %}", "line 1"},
        {"{% set 1 = 2 %}", "line 1"},
        {"{% for in y %}{% endfor %}", "line 1"},
        {"{% macro () %}{% endmacro %}", "line 1"},
        {"{{ [1, 2 }}", "line 1"},
        {"{{ {'a': } }}", "line 1"},
        {"{{ 1 + }}", "line 1"},
        {"{{ a b }}", "line 1"},
        {"{{ $ }}", "line 1"},
        {"{% include 'x' %}", "line 1"},
        {"{% import 'x' as y %}", "line 1"},
        {"{% extends 'x' %}", "line 1"},
        {"{% break %}", "line 1"},
        {"{{ messages[0].content }}", "no element 0"},
        {"{{ 1 / 0 }}", "ZeroDivisionError"},
        {"{{ 1 % 0 }}", "ZeroDivisionError"},
        {"{{ 'a' + 1 }}", "TypeError"},
        {"{{ range(1, 10, 0) | list }}", "ValueError"},
        {"{{ [1][7].x }}", "UndefinedError"},
    });
}

TEST(ChatTemplateMalformed, WhatAsksForTooMuchIsRefused) {
    for (const std::string& source : std::vector<std::string>{
             // steps
             "{% for i in range(99999999999) %}{% endfor %}",
             "{{ range(99999999999) | list | length }}",
             "{{ range(99999999999) | sum }}",
             "{{ range(30000000) | map('string') | join }}",
             "{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}{{ m(0) }}",
             // output and memory
             "{{ 'x' * 99999999999 }}",
             "{{ [0] * 99999999999 }}",
             "{{ ('x' * 1000000) | replace('x', 'y' * 1000) }}",
             "{{ (('x,' * 100000).split(',')) | join('y' * 100000) }}",
             "{{ 'x' | center(99999999999) }}",
             "{{ 'x'.center(99999999999) }}",
             "{{ 'x'.rjust(99999999999) }}",
             "{{ '%0999999999d' % 1 }}",
             "{{ '%-999999999s' % 'x' }}",
             "{{ '{:>999999999}'.format('x') }}",
             "{{ '{:.999999999f}'.format(1.5) }}",
             "{{ 'x' | indent(999999999, true) }}",
             "{{ ('x\n' * 10000) | indent(100000) }}",
             "{{ ('x ' * 100000) | wordwrap(1, false, 'y' * 100000) }}",
             "{% set ns = namespace(l=[]) %}{% for i in range(10000000) %}"
             "{% set ns.l = ns.l + [i] %}{% endfor %}",
             "{% set ns = namespace(d={}) %}{% for i in range(10000000) %}"
             "{% set _ = ns.d.update({i: 'x' * 1000}) %}{% endfor %}",
             "{% set x = 'x' * 1000000 %}{% for i in range(100) %}{{ x }}{% endfor %}",
             // integers
             "{{ 10 ** 100000 }}",
             "{{ 9 ** 9 ** 9 }}",
             "{{ 9223372036854775807 * 9223372036854775807 * 2 }}",
             "{{ range(0, 9223372036854775807, 1) | list }}",
             // depth
             "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
             "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}"
             "{{ a() }}",
             "{% macro m() %}{{ caller() }}{% call m() %}{% endcall %}{% endmacro %}"
             "{% call m() %}x{% endcall %}",
             "{% set d = {} %}{% set _ = d.update({'d': d}) %}{{ d }}",
             "{% set d = {} %}{% set _ = d.update({'d': d}) %}{{ d | tojson }}",
             "{{ " + manyOf("{'a': ", 5000) + "1" + manyOf("}", 5000) + " }}",
             "{{ " + manyOf("f(", 5000) + manyOf(")", 5000) + " }}",
             "{{ " + manyOf("x[", 5000) + "0" + manyOf("]", 5000) + " }}",
             "{{ " + manyOf("x ~ ", 50000) + "x }}{{ nothing.here }}",
             manyOf("{% for x in [1] %}", 5000) + manyOf("{% endfor %}", 5000),
             manyOf("{% filter upper %}", 5000) + manyOf("{% endfilter %}", 5000),
             manyOf("{% macro m() %}", 5000) + manyOf("{% endmacro %}", 5000),
         }) {
        const std::string trouble = troubleWith(source);
        EXPECT_NE(trouble, "") << source.substr(0, 120);
        EXPECT_LT(trouble.size(), 1000U) << source.substr(0, 120);
    }
}

// What a client sends is data: however deep it is, and whatever it spells, it runs nothing.
TEST(ChatTemplateMalformed, DataIsNoProgram) {
    auto made = ChatTemplate::create("{{ messages[0].content }}");
    ASSERT_TRUE(made);
    TemplateInput input;
    input.messages = R"([{"role": "user", "content": "{{ 1 / 0 }}{% raise %}{# #}"}])";
    EXPECT_EQ((*made)->render(input).value_or("failed"), "{{ 1 / 0 }}{% raise %}{# #}");
    const std::string deep = manyOf("[", 100'000) + manyOf("]", 100'000);
    EXPECT_NE(troubleWith("{{ messages }}", deep), "");
    EXPECT_NE(troubleWith("{{ messages | tojson }}", deep), "");
    EXPECT_NE(troubleWith("{{ messages[0] < messages[0] }}", "[{}]"), "");
}

}  // namespace
}  // namespace quern::engine
