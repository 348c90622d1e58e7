// Real templates against what the reference made of them.
#include <gtest/gtest.h>

#include <string>

#include "engine/text.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

// 2026-01-15 12:00:00, when the expected values were made.
constexpr std::int64_t kNow = 1768478400;

// Refused by the reference's sandbox only because they call list.append, which is allowed here.
bool isExempt(const std::string& file, const std::string& conversation) {
    return file == "Kimi-K2-Thinking.jinja" &&
           (conversation == "tool-call" || conversation == "parallel-tool-calls");
}

TemplateInput inputOf(const nlohmann::ordered_json& conversation) {
    TemplateInput input;
    input.messages = conversation.at("messages").dump();
    if (conversation.contains("tools")) {
        input.tools = conversation.at("tools").dump();
    }
    if (conversation.contains("documents")) {
        input.documents = conversation.at("documents").dump();
    }
    if (conversation.contains("kwargs")) {
        input.kwargs = conversation.at("kwargs").dump();
    }
    input.bos = "<|BOS|>";
    input.eos = "<|EOS|>";
    input.now = kNow;
    return input;
}

TEST(ChatTemplateGolden, rendersEveryTemplateExactly) {
    QUERN_GOLDEN_OR_SKIP(folder, "chat-templates");
    const auto golden = test::readJson(folder / "expected.json");
    int checked = 0;
    for (const auto& [file, results] : golden.at("expected").items()) {
        const auto made = ChatTemplate::create(test::readFile(folder / "templates" / file));
        ASSERT_TRUE(made) << file << ": " << made.error().message;
        for (const auto& [name, expected] : results.items()) {
            if (isExempt(file, name)) {
                continue;
            }
            const auto text = (*made)->render(inputOf(golden.at("conversations").at(name)));
            ++checked;
            if (expected.contains("text")) {
                ASSERT_TRUE(text) << file << " / " << name << ": " << text.error().message;
                EXPECT_EQ(*text, expected.at("text").get<std::string>()) << file << " / " << name;
            } else {
                ASSERT_FALSE(text) << file << " / " << name << " must be refused";
                // A refusal is the template's sentence alone, all else carries the error's type.
                std::string reason = expected.at("error").get<std::string>();
                if (reason.starts_with("TemplateError: ")) {
                    reason.erase(0, reason.find(' ') + 1);
                    EXPECT_EQ(text.error().message, reason) << file << " / " << name;
                } else {
                    EXPECT_NE(text.error().message.find(reason), std::string::npos)
                        << file << " / " << name << ": " << text.error().message;
                }
            }
        }
    }
    EXPECT_GE(checked, 500);
}

}  // namespace
}  // namespace quern::engine
