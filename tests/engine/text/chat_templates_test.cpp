// Where a model's chat templates come from.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/text.h"
#include "engine/text/chat_templates_known.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;

class ChatTemplatesFolder : public ::testing::Test {
protected:
    ChatTemplatesFolder() {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        m_folder =
            fs::temp_directory_path() / ("quern-chat-templates-" + std::string(info->name()) + "-" +
                                         std::to_string(::getpid()));
        fs::remove_all(m_folder);
        fs::create_directories(m_folder);
    }
    ~ChatTemplatesFolder() override { fs::remove_all(m_folder); }

    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((m_folder / name).parent_path());
        std::ofstream(m_folder / name) << text;
    }
    [[nodiscard]] Result<ChatTemplates> load() const { return loadChatTemplates(m_folder); }
    [[nodiscard]] const fs::path& folder() const { return m_folder; }

private:
    fs::path m_folder;
};

std::string sourceOf(const std::shared_ptr<const ChatTemplate>& made) {
    return made == nullptr ? "none" : made->source();
}

TEST_F(ChatTemplatesFolder, missingAndBrokenOnesAreNamed) {
    EXPECT_EQ(loadChatTemplates(folder() / "nowhere").error().code, ErrorCode::kNotFound);
    write("tokenizer_config.json", "{");
    EXPECT_EQ(load().error().code, ErrorCode::kCorrupt);
    write("tokenizer_config.json", R"({"chat_template": 5})");
    EXPECT_EQ(load().error().code, ErrorCode::kCorrupt);
    write("tokenizer_config.json", R"({"chat_template": [{"nome": "x"}]})");
    EXPECT_EQ(load().error().code, ErrorCode::kCorrupt);
    write("tokenizer_config.json", R"({"chat_template": "{% if %}"})");
    EXPECT_EQ(load().error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ChatTemplatesFolder, aModelWithoutAnySignHasNone) {
    write("config.json", R"({"model_type": "llama"})");
    const auto templates = load();
    ASSERT_TRUE(templates) << templates.error().message;
    EXPECT_EQ(templates->standard, nullptr);
    EXPECT_EQ(templates->recognizedAs, "");
}

TEST_F(ChatTemplatesFolder, readsAllPlacesOfAFolder) {
    write("tokenizer_config.json", R"({"chat_template": "config"})");
    EXPECT_EQ(sourceOf(load()->standard), "config");
    write("tokenizer_config.json",
          R"({"chat_template": [{"name": "default", "template": "one"},
              {"name": "tool_use", "template": "two"}, {"name": "rag", "template": "three"}]})");
    EXPECT_EQ(sourceOf(load()->standard), "one");
    EXPECT_EQ(sourceOf(load()->toolUse), "two");
    write("chat_template.json", R"({"chat_template": "legacy"})");
    EXPECT_EQ(sourceOf(load()->standard), "legacy");
    write("chat_template.jinja", "file");
    write("additional_chat_templates/tool_use.jinja", "extra");
    EXPECT_EQ(sourceOf(load()->standard), "file");
    EXPECT_EQ(sourceOf(load()->toolUse), "extra");
    EXPECT_EQ(load()->recognizedAs, "");
    write("tokenizer.json", "{}");
    EXPECT_EQ(sourceOf(loadChatTemplates(folder() / "tokenizer.json")->standard), "file");
}

TEST_F(ChatTemplatesFolder, recognizesAModelByItsTokens) {
    write("tokenizer.json",
          R"({"added_tokens": [{"content": "<|im_start|>"}, {"content": "<|im_end|>"}]})");
    const auto templates = load();
    ASSERT_TRUE(templates) << templates.error().message;
    EXPECT_EQ(templates->recognizedAs, "chatml");
    TemplateInput input;
    input.messages = R"([{"role": "user", "content": "hi"}])";
    EXPECT_EQ(templates->standard->render(input).value_or("failed"),
              "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplatesKnown, everyOneRendersAChat) {
    struct Case {
        std::vector<std::string> tokens;
        std::string name;
        std::string known;
        std::string expected;
    };
    const Case cases[] = {
        {{"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
         "",
         "llama3",
         "<s><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
         "<|start_header_id|>assistant<|end_header_id|>\n\nho<|eot_id|>"
         "<|start_header_id|>user<|end_header_id|>\n\nup<|eot_id|>"
         "<|start_header_id|>assistant<|end_header_id|>\n\n"},
        {{"<start_of_turn>", "<end_of_turn>"},
         "",
         "gemma",
         "<s><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\nho<end_of_turn>\n"
         "<start_of_turn>user\nup<end_of_turn>\n<start_of_turn>model\n"},
        {{"<|user|>", "<|assistant|>", "<|end|>"},
         "",
         "phi3",
         "<|user|>\nhi<|end|>\n<|assistant|>\nho<|end|>\n<|user|>\nup<|end|>\n<|assistant|>\n"},
        {{},
         "Zephyr 7B Beta",
         "zephyr",
         "<|user|>\nhi</s>\n<|assistant|>\nho</s>\n<|user|>\nup</s>\n<|assistant|>\n"},
        {{}, "Llama-2-7b-Chat-hf", "llama2", "<s>[INST] hi [/INST] ho </s><s>[INST] up [/INST]"},
        {{"[INST]", "[/INST]"}, "", "mistral", "<s>[INST] hi[/INST] ho</s>[INST] up[/INST]"},
        {{"<｜User｜>", "<｜Assistant｜>"},
         "",
         "deepseek",
         "<s><｜User｜>hi<｜Assistant｜>ho<｜end▁of▁sentence｜><｜User｜>up<｜Assistant｜>"},
        {{"<|start|>", "<|message|>", "<|channel|>"},
         "",
         "gpt-oss",
         "<|start|>user<|message|>hi<|end|><|start|>assistant<|channel|>final<|message|>ho<|end|>"
         "<|start|>user<|message|>up<|end|><|start|>assistant"},
        {{"<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>"},
         "",
         "command-r",
         "<s><|START_OF_TURN_TOKEN|><|USER_TOKEN|>hi<|END_OF_TURN_TOKEN|>"
         "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>ho<|END_OF_TURN_TOKEN|>"
         "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>up<|END_OF_TURN_TOKEN|>"
         "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"},
        {{"<|start_of_role|>", "<|end_of_role|>"},
         "",
         "granite",
         "<|start_of_role|>user<|end_of_role|>hi<|end_of_text|>\n"
         "<|start_of_role|>assistant<|end_of_role|>ho<|end_of_text|>\n"
         "<|start_of_role|>user<|end_of_role|>up<|end_of_text|>\n"
         "<|start_of_role|>assistant<|end_of_role|>"},
    };
    for (const Case& expected : cases) {
        const auto known =
            recognizeTemplate({.name = expected.name, .hasToken = [&](std::string_view token) {
                                   return std::find(expected.tokens.begin(), expected.tokens.end(),
                                                    token) != expected.tokens.end();
                               }});
        ASSERT_TRUE(known) << expected.known;
        EXPECT_EQ(known->name, expected.known);
        const auto made = ChatTemplate::create(std::string(known->source));
        ASSERT_TRUE(made) << made.error().message;
        TemplateInput input;
        input.messages = R"([{"role": "user", "content": "hi"},
            {"role": "assistant", "content": "ho"}, {"role": "user", "content": "up"}])";
        input.bos = "<s>";
        input.eos = "</s>";
        EXPECT_EQ((*made)->render(input).value_or("failed"), expected.expected);
        input.messages =
            R"([{"role": "system", "content": "Sys"}, {"role": "user", "content": "u"}])";
        const std::string withSystem = (*made)->renderChat(input).value_or("failed");
        EXPECT_NE(withSystem.find("Sys"), std::string::npos) << expected.known << withSystem;
    }
}

}  // namespace
}  // namespace quern::engine
