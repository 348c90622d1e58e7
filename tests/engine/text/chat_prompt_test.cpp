#include "engine/text/chat_prompt.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/golden.h"

namespace quern::engine {
namespace {

ChatMessage say(const std::string& role, std::vector<std::string> text) {
    ChatMessage message;
    message.role = role;
    message.textParts = std::move(text);
    return message;
}

ChatPrompt chat(std::vector<ChatMessage> messages) {
    ChatPrompt prompt;
    prompt.messages = std::move(messages);
    return prompt;
}

ChatTemplates templatesOf(const std::string& source) {
    ChatTemplates templates;
    auto made = ChatTemplate::create(source);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    if (made) {
        templates.standard = std::move(*made);
    }
    return templates;
}

/// A template of the golden data; null standard when the data is not there.
ChatTemplates golden(const char* file) {
    const auto folder = test::goldenOrCopied("chat-templates");
    return folder ? templatesOf(test::readFile(*folder / "templates" / file)) : ChatTemplates();
}

const std::string kPlain =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

std::string rendered(const ChatTemplates& templates, const ChatPrompt& prompt) {
    const auto text = renderPrompt(templates, prompt, "<s>", "</s>", 0);
    return text ? text->text : "refused: " + text.error().message;
}

TEST(ChatPrompt, contradictionNamesBothFields) {
    ChatPrompt prompt = chat({say("user", {"hi"}), say("assistant", {"ho"})});
    prompt.continueFinalMessage = true;
    const auto text = renderPrompt(templatesOf(kPlain), prompt, "", "");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(text.error().message.find("continue_final_message"), std::string::npos);
    EXPECT_NE(text.error().message.find("add_generation_prompt"), std::string::npos);
}

TEST(ChatPrompt, wrongInputsAreNamed) {
    const ChatTemplates plain = templatesOf(kPlain);
    EXPECT_EQ(renderPrompt(plain, chat({}), "", "").error().field, "messages");
    EXPECT_EQ(renderPrompt(plain, chat({say("user", {"a"}), say("user", {"\xFF"})}), "", "")
                  .error()
                  .field,
              "messages[1]");
    ChatPrompt prompt = chat({say("user", {"a"})});
    prompt.tools = {"{}", "nope"};
    EXPECT_EQ(renderPrompt(plain, prompt, "", "").error().field, "tools[1]");
    EXPECT_EQ(renderPrompt(ChatTemplates(), chat({say("user", {"a"})}), "", "").error().code,
              ErrorCode::kUnsupported);
    prompt = chat({say("user", {"a"})});
    prompt.chatTemplate = "{% if %}";
    EXPECT_EQ(renderPrompt(plain, prompt, "", "").error().field, "chat_template");
}

TEST(ChatPrompt, refusalIsTheTemplatesSentenceAndNamesTheMessage) {
    const ChatTemplates templates = templatesOf(
        "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('roles must alternate') }}{% endif %}{{ m.content }}{% endfor %}");
    const auto text = renderPrompt(
        templates,
        chat({say("user", {"a"}), say("assistant", {"b"}), say("user", {"c"}), say("user", {"d"})}),
        "", "");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(text.error().message, "roles must alternate");
    EXPECT_EQ(text.error().field, "messages[3]");
}

TEST(ChatPrompt, finalMessageIsContinuedBehindItsText) {
    ChatPrompt prompt = chat({say("user", {"who?"}), say("assistant", {"s"})});
    prompt.addGenerationPrompt = false;
    prompt.continueFinalMessage = true;
    // The letter stands again behind the message: only the message's own counts.
    EXPECT_EQ(rendered(templatesOf(kPlain + "sss"), prompt), "<user>who?</><assistant>s");
    prompt.messages.back().textParts = {"text with a blank "};
    EXPECT_EQ(rendered(templatesOf(kPlain), prompt), "<user>who?</><assistant>text with a blank ");
    const ChatTemplates trims =
        templatesOf("{% for m in messages %}[{{ m.content | trim }}]{% endfor %}");
    EXPECT_EQ(rendered(trims, prompt), "[who?][text with a blank");
    prompt.messages.back().textParts = {"one ", "two"};
    EXPECT_EQ(rendered(templatesOf(kPlain), prompt), "<user>who?</><assistant>one two");
    const ChatTemplates silent = templatesOf("{{ messages[0].content }}");
    const auto text = renderPrompt(silent, prompt, "", "");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().field, "continue_final_message");
}

TEST(ChatPrompt, givesATemplateWhatItTakes) {
    const ChatPrompt two = chat({say("system", {"S"}), say("user", {"a", "b"})});
    EXPECT_EQ(rendered(templatesOf(kPlain), two), "<system>S</><user>ab</><assistant>");
    const ChatTemplates wantsParts = templatesOf(
        "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}({{ p.text }})"
        "{% endfor %}{% endfor %}");
    EXPECT_EQ(rendered(wantsParts, two), "<system>(S)<user>(a)(b)");
    const ChatTemplates noSystem = templatesOf(
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}"
        "{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}");
    EXPECT_EQ(rendered(noSystem, two), "<user>S\n\nab");
    EXPECT_EQ(rendered(noSystem, chat({say("system", {"S"})})), "<user>S");
    EXPECT_EQ(rendered(templatesOf("{% for m in messages %}{% if m.role in ['system', 'user'] %}<"
                                   "{{ m.role }}>{{ m.content }}{% endif %}{% endfor %}"),
                       chat({say("developer", {"D"}), say("user", {"u"})})),
              "<system>D<user>u");
}

ChatPrompt callPrompt() {
    ChatMessage call = say("assistant", {});
    call.toolCalls = {{.id = "call_0123456789", .name = "add", .arguments = R"({"a": 1})"}};
    ChatMessage result = say("tool", {"2"});
    result.toolCallId = "call_0123456789";
    ChatPrompt prompt = chat({say("user", {"u"}), call, result});
    prompt.tools = {R"({"type": "function", "function": {"name": "add"}})"};
    return prompt;
}

TEST(ChatPrompt, givesCallsAsTheTemplateTakesThem) {
    const std::string head =
        "{% if tools %}T{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}";
    const std::string each = "{% for c in m.tool_calls %}{{ c.function.name }}";
    const std::string tail = "{% endfor %}{% endfor %}";
    EXPECT_EQ(rendered(templatesOf(head + each + "{{ c.function.arguments | tojson }}" + tail),
                       callPrompt()),
              "T<user>u<assistant>add{\"a\": 1}<tool>2");
    EXPECT_EQ(
        rendered(templatesOf(head + each + "{{ c.function.arguments }}" + tail), callPrompt()),
        "T<user>u<assistant>add{\"a\": 1}<tool>2");
    const ChatTemplates shortIds = templatesOf(
        head + each + "{% if c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}" + tail);
    EXPECT_EQ(rendered(shortIds, callPrompt()), "T<user>u<assistant>add<tool>2");
}

TEST(ChatPrompt, usesTheToolTemplateOnlyWithTools) {
    ChatTemplates templates = templatesOf("plain");
    templates.toolUse = templatesOf("tools").standard;
    EXPECT_EQ(rendered(templates, chat({say("user", {"u"})})), "plain");
    EXPECT_EQ(rendered(templates, callPrompt()), "tools");
    ChatPrompt own = callPrompt();
    own.chatTemplate = "{{ word }}";
    own.templateKwargs = R"({"word": "own"})";
    EXPECT_EQ(rendered(templates, own), "own");
}

TEST(ChatPrompt, reasoningGoesUnderTheTemplatesKey) {
    ChatMessage message = say("assistant", {"a"});
    message.reasoning = "think";
    const ChatPrompt prompt = chat({message});
    EXPECT_EQ(rendered(templatesOf("{{ messages[0].reasoning_content }}"), prompt), "think");
    EXPECT_EQ(rendered(templatesOf("{{ messages[0].thinking }}"), prompt), "think");
    EXPECT_EQ(rendered(templatesOf("{{ messages[0].reasoning }}"), prompt), "think");
}

// Cases from public bug reports, with the real templates.

ChatPrompt toolChat() {
    ChatPrompt prompt = chat({say("user", {"Weather?"}), say("assistant", {}), say("tool", {"sun"}),
                              say("tool", {"rain"}), say("user", {"And?"})});
    prompt.messages[1].toolCalls = {
        {.id = "1", .name = "look", .arguments = R"({"city": "Paris"})"}};
    prompt.messages[2].toolCallId = "1";
    prompt.tools = {R"({"type": "function", "function": {"name": "look"}})"};
    return prompt;
}

TEST(ChatPrompt, toolsThatATemplateHasNoPlaceForAreSaidAsText) {
    const auto text = renderPrompt(templatesOf(kPlain), toolChat(), "", "");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(text->replyFormat.calls, CallDialect::kHermes);
    EXPECT_TRUE(text->text.starts_with("<system>")) << text->text;
    EXPECT_NE(text->text.find(R"(<tools>
{"name":"look"}
</tools>)"),
              std::string::npos)
        << text->text;
    EXPECT_TRUE(text->text.ends_with(R"(<user>Weather?</><assistant><tool_call>
{"name":"look","arguments":{"city":"Paris"}}
</tool_call></><user><tool_response>
sun
</tool_response>

<tool_response>
rain
</tool_response></><user>And?</><assistant>)"))
        << text->text;
    // A system message that is there stays, and is the place for them.
    ChatPrompt prompt = toolChat();
    prompt.messages.insert(prompt.messages.begin(), say("system", {"Be brief."}));
    EXPECT_TRUE(rendered(templatesOf(kPlain), prompt).starts_with("<system>Be brief.\n\nYou"));
}

TEST(ChatPrompt, aTemplateThatSaysToolsIsLeftToIt) {
    const ChatTemplates says =
        templatesOf("{% if tools %}{{ tools | tojson }}<tool_call>{% endif %}" + kPlain);
    const auto text = renderPrompt(says, toolChat(), "", "");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_TRUE(text->text.starts_with("[{")) << text->text;
    EXPECT_NE(text->text.find("<tool>sun</>"), std::string::npos) << text->text;
    EXPECT_EQ(text->replyFormat.calls, CallDialect::kHermes);
    ChatPrompt without = toolChat();
    without.tools.clear();
    EXPECT_NE(rendered(templatesOf(kPlain), without).find("<tool>sun</>"), std::string::npos);
}

TEST(ChatPromptGolden, llamaBeginsWithOneBosAndPrefills) {
    QUERN_GOLDEN_OR_SKIP(folder, "chat-templates");
    const ChatTemplates llama = golden("meta-llama-Llama-3.1-8B-Instruct.jinja");
    ChatPrompt prompt = chat({say("user", {"Name?"}), say("assistant", {"Whill"})});
    prompt.addGenerationPrompt = false;
    prompt.continueFinalMessage = true;
    const auto text = renderPrompt(llama, prompt, "<|begin_of_text|>", "<|eot_id|>", 0);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_TRUE(text->text.starts_with("<|begin_of_text|><|start_header_id|>")) << text->text;
    EXPECT_TRUE(text->text.ends_with("assistant<|end_header_id|>\n\nWhill")) << text->text;
    const ChatTemplates glm = golden("GLM-4.7-Flash.jinja");
    const auto other = renderPrompt(glm, chat({say("user", {"hi"})}), "", "", 0);
    ASSERT_TRUE(other);
    EXPECT_TRUE(other->text.starts_with("[gMASK]<sop>")) << other->text;
}

TEST(ChatPromptGolden, thinkingIsSwitched) {
    QUERN_GOLDEN_OR_SKIP(folder, "chat-templates");
    ChatPrompt prompt = chat({say("user", {"Hello"})});
    prompt.templateKwargs = R"({"enable_thinking": false})";
    const auto off = renderPrompt(golden("Qwen3.5-4B.jinja"), prompt, "", "", 0);
    ASSERT_TRUE(off) << off.error().message;
    EXPECT_TRUE(off->text.ends_with("<|im_start|>assistant\n<think>\n\n</think>\n\n")) << off->text;
    prompt.templateKwargs.clear();
    const auto on =
        renderPrompt(golden("deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja"), prompt, "", "", 0);
    ASSERT_TRUE(on);
    EXPECT_TRUE(on->text.ends_with("<think>\n")) << on->text;
}

TEST(ChatPromptGolden, mistralRefusesTwoUsersInItsOwnWords) {
    QUERN_GOLDEN_OR_SKIP(folder, "chat-templates");
    const ChatTemplates mistral = golden("mistralai-Mistral-Nemo-Instruct-2407.jinja");
    const auto text =
        renderPrompt(mistral, chat({say("user", {"a"}), say("user", {"b"})}), "<s>", "</s>", 0);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().message,
              "After the optional system message, conversation roles must alternate "
              "user/assistant/user/assistant/...");
    EXPECT_EQ(text.error().field, "messages[1]");
}

/// What the reference refuses for its form, and a real chat must not: parts where text is wanted.
TEST(ChatPromptGolden, everyTemplateTakesPartsInARealChat) {
    QUERN_GOLDEN_OR_SKIP(folder, "chat-templates");
    const auto expected = test::readJson(folder / "expected.json").at("expected");
    for (const auto& [file, results] : expected.items()) {
        if (!results.at("user").contains("text")) {
            continue;  // those that need more than a user's message
        }
        const ChatTemplates templates = golden(file.c_str());
        const std::string parts =
            rendered(templates, chat({say("user", {"part one ", "part two"})}));
        EXPECT_NE(parts.find("part one"), std::string::npos) << file << ": " << parts;
        EXPECT_NE(parts.find("part two"), std::string::npos) << file << ": " << parts;
        EXPECT_EQ(parts.find("'type'"), std::string::npos) << file << ": " << parts;
        const std::string call = rendered(templates, callPrompt());
        EXPECT_FALSE(call.starts_with("refused")) << file << ": " << call;
        EXPECT_EQ(call.find("{'a'"), std::string::npos) << file << ": " << call;
        EXPECT_EQ(call.find("\\\"a\\\""), std::string::npos) << file << ": " << call;
    }
}

}  // namespace
}  // namespace quern::engine
