#include "engine/convert/tokenizer_keys.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/convert/splitter_name.h"
#include "engine/formats/gguf.h"
#include "engine/text.h"
#include "engine/text/pretokenizer_table.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::engine::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A GGUF file of a folder's tokenizer.
fs::path writeVocabulary(const fs::path& folder, const fs::path& to, std::int64_t rows = 0) {
    GgufKeys keys;
    keys.string("general.architecture", "llama");
    const auto notes = addTokenizerKeys(folder, rows, keys);
    EXPECT_TRUE(notes.has_value()) << notes.error().message;
    const auto layout = layOut(keys, {});
    EXPECT_TRUE(layout.has_value());
    test::writeFile(to, layout->header);
    return to;
}

TEST(TokenizerKeys, EveryKindGivesTheReferencesIds) {
    QUERN_GOLDEN_OR_SKIP(root, "tokenizers-hf");
    const test::TempFolder temp;
    std::set<std::string> models;
    for (const auto& entry : fs::directory_iterator(root)) {
        SCOPED_TRACE(entry.path().filename().string());
        const fs::path path = writeVocabulary(entry.path(), temp.path() / "v.gguf");
        const auto file = GgufFile::open(path);
        ASSERT_TRUE(file.has_value()) << file.error().message;
        models.insert(std::string((*file)->metadata().string("tokenizer.ggml.model").value()));
        const auto tokenizer = loadTokenizer(path);
        ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
        const auto expected = test::readJson(entry.path() / "expected.json");
        for (const auto& item : expected["cases"]) {
            const std::string text = item["text"];
            const auto ids = (*tokenizer)->encode(text, {.parseSpecial = true});
            ASSERT_TRUE(ids.has_value()) << ids.error().message;
            EXPECT_EQ(*ids, item["ids"].get<std::vector<TokenId>>()) << text;
            EXPECT_EQ(
                (*tokenizer)->encode(text, {.addSpecial = true, .parseSpecial = true}).value(),
                item["ids_with_special"].get<std::vector<TokenId>>())
                << text;
            EXPECT_EQ((*tokenizer)->decode(*ids, false), item["decoded"].get<std::string>());
        }
    }
    EXPECT_EQ(models, (std::set<std::string>{"bert", "gpt2", "llama", "t5"}));
}

// GGUF's own keys must do where they can: files are for other programs too.
TEST(TokenizerKeys, TheOriginalGoesInOnlyWhereKeysCannotSayIt) {
    QUERN_GOLDEN_OR_SKIP(root, "tokenizers-hf");
    const test::TempFolder temp;
    const auto hasOriginal = [&](const char* name) {
        const auto file = GgufFile::open(writeVocabulary(root / name, temp.path() / "v.gguf"));
        return (*file)->metadata().has("tokenizer.huggingface.json");
    };
    EXPECT_FALSE(hasOriginal("bpe-bytelevel-gpt2"));
    EXPECT_FALSE(hasOriginal("bpe-split-regex-llama3"));
    EXPECT_TRUE(hasOriginal("bpe-bytelevel-prefix-space"));
    EXPECT_TRUE(hasOriginal("bpe-digits-nfc"));
}

// A tokenizer.json that splits by the patterns of a name is recognized as splitting so.
TEST(TokenizerKeys, EverySplittingIsRecognized) {
    // Spelled otherwise than qwen2 and yet the same: white space up to the last line break.
    const std::set<std::string_view> sameAsQwen2{"bailingmoe", "bailingmoe2", "llada-moe"};
    std::size_t checked = 0;
    for (const std::string_view name : text::splitterNames()) {
        const text::SplitterFacts& facts = *text::findSplitter(name);
        if (facts.usesSpaceMarks || sameAsQwen2.contains(name)) {
            continue;
        }
        json steps = json::array();
        for (const std::string_view pattern : facts.patterns) {
            steps.push_back({{"type", "Split"},
                             {"pattern", {{"Regex", pattern}}},
                             {"behavior", "Isolated"},
                             {"invert", false}});
        }
        steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
        const json root{{"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}},
                        {"model", {{"ignore_merges", facts.ignoresMerges}}}};
        const SplitterMatch match = findSplitterName(root);
        const text::SplitterFacts& found = *text::findSplitter(match.name);
        EXPECT_EQ(match.differing, 0U) << name << " taken for " << match.name;
        EXPECT_EQ(found.ignoresMerges, facts.ignoresMerges) << name;
        // Another name may stand for the same patterns, and only for the same ones.
        EXPECT_TRUE(std::equal(found.patterns.begin(), found.patterns.end(), facts.patterns.begin(),
                               facts.patterns.end()))
            << name << " taken for " << match.name;
        ++checked;
    }
    EXPECT_GT(checked, 80U);
}

TEST(TokenizerKeys, RolesEndsAndTemplatesComeAlong) {
    const test::TempFolder folder;
    test::writeFile(folder.path() / "tokenizer.json", R"({
        "added_tokens": [{"id": 4, "content": "<s>", "special": true},
                         {"id": 5, "content": "<|im_end|>", "special": true},
                         {"id": 6, "content": "<tool>", "special": false}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [4]}}},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "\u0120": 3},
                  "merges": ["a b"]}})");
    test::writeFile(folder.path() / "tokenizer_config.json",
                    R"({"bos_token": "<s>", "eos_token": "<|im_end|>",
                        "chat_template": [{"name": "default", "template": "T1"},
                                          {"name": "tool_use", "template": "T2"}]})");
    const test::TempFolder temp;
    const fs::path path = writeVocabulary(folder.path(), temp.path() / "v.gguf", 9);
    const auto file = GgufFile::open(path);
    const GgufMetadata& metadata = (*file)->metadata();
    EXPECT_EQ(metadata.integer("tokenizer.ggml.bos_token_id").value(), 4);
    EXPECT_EQ(metadata.integer("tokenizer.ggml.eos_token_id").value(), 5);
    EXPECT_TRUE(metadata.boolean("tokenizer.ggml.add_bos_token").value());
    EXPECT_FALSE(metadata.boolean("tokenizer.ggml.add_eos_token").value());
    const auto kinds = metadata.integers("tokenizer.ggml.token_type").value();
    ASSERT_EQ(kinds.size(), 9U);  // one a row of the embedding table
    EXPECT_EQ(kinds[0], 1);
    EXPECT_EQ(kinds[4], 3);
    EXPECT_EQ(kinds[6], 4);
    EXPECT_EQ(kinds[8], 5);
    const auto templates = loadChatTemplates(path);
    ASSERT_TRUE(templates.has_value()) << templates.error().message;
    EXPECT_EQ(templates->standard->source(), "T1");
    ASSERT_NE(templates->toolUse, nullptr);
    EXPECT_EQ(templates->toolUse->source(), "T2");
    const auto tokenizer = loadTokenizer(path);
    EXPECT_EQ((*tokenizer)->encode("ab<tool>a", {.addSpecial = true}).value(),
              (std::vector<TokenId>{4, 2, 6, 0}));
}

TEST(TokenizerKeys, FoldersWithoutATokenizerSaySo) {
    const test::TempFolder folder;
    GgufKeys keys;
    const auto notes = addTokenizerKeys(folder.path(), 8, keys);
    ASSERT_TRUE(notes.has_value());
    ASSERT_EQ(notes->size(), 1U);
    EXPECT_NE(notes->front().find("token ids only"), std::string::npos);
    test::writeFile(folder.path() / "tokenizer.json", "{");
    EXPECT_EQ(addTokenizerKeys(folder.path(), 8, keys).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace quern::engine::convert
