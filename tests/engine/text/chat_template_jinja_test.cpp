// The language against the reference's own answers, which tests/data/jinja/make_cases.py collected.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "engine/text.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

constexpr std::int64_t kNoon = 1768478400;  // 2026-01-15 12:00:00

/// "" when ours agrees; else what differs. Errors must be of the same type; where the reference's
/// message speaks of the template and not of Python's insides, it must be the same too.
std::string difference(const nlohmann::ordered_json& expected, const Result<std::string>& ours) {
    if (expected.contains("text")) {
        const auto text = expected.at("text").get<std::string>();
        if (!ours) {
            return "refused: " + ours.error().message + "\n  expected text: " + text;
        }
        return *ours == text ? "" : "got:      " + *ours + "\n  expected: " + text;
    }
    const auto type = expected.at("error").get<std::string>();
    const auto message = expected.at("message").get<std::string>();
    if (ours) {
        return "got:      " + *ours + "\n  expected " + type + ": " + message;
    }
    const std::string& got = ours.error().message;
    if (type == "TemplateError") {
        return got == message ? "" : "got: " + got + "\n  expected " + message;
    }
    const bool isSyntax = message.starts_with("no loader for this environment") ||
                          type == "TemplateSyntaxError" || type == "TemplateAssertionError" ||
                          type == "SyntaxError";
    if (isSyntax) {
        return got.find("Syntax") != std::string::npos || got.find("Assertion") != std::string::npos
                   ? ""
                   : "got: " + got + "\n  expected " + type + ": " + message;
    }
    const std::string wanted = type == "UndefinedError" ? type + ": " + message : type + ":";
    return got.find(wanted) != std::string::npos
               ? ""
               : "got: " + got + "\n  expected " + type + ": " + message;
}

TEST(ChatTemplateJinja, agreesWithTheReferenceOnEveryCase) {
    // A wider set, made at random, can be checked in place of the kept one.
    const char* other = std::getenv("QUERN_JINJA_CASES");
    const auto document = test::readJson(
        other != nullptr ? std::filesystem::path(other) : test::dataDir() / "jinja" / "cases.json");
    TemplateInput input;
    input.messages = "[]";
    input.kwargs = document.at("context").dump();
    input.bos = "<s>";
    input.eos = "</s>";
    input.now = kNoon;
    int checked = 0;
    for (const auto& expected : document.at("cases")) {
        const auto source = expected.at("template").get<std::string>();
        const auto made = ChatTemplate::create(source);
        const Result<std::string> text =
            made ? (*made)->render(input) : Result<std::string>(tl::unexpected(made.error()));
        ++checked;
        EXPECT_EQ(difference(expected, text), "") << source;
    }
    EXPECT_GE(checked, 100);
}

}  // namespace
}  // namespace quern::engine
