#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/text.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

std::string join(const std::vector<TokenId>& ids) {
    std::string text;
    for (const TokenId id : ids) {
        text += (text.empty() ? "" : " ") + std::to_string(id);
    }
    return text;
}

/// The texts of an .inp file: what stands between lines that hold the separator.
std::vector<std::string> readTexts(const std::filesystem::path& path) {
    const std::string separator = "\n__ggml_vocab_test__\n";
    std::string all = test::readFile(path);
    std::vector<std::string> texts;
    for (std::size_t at = all.find(separator); at != std::string::npos; at = all.find(separator)) {
        texts.push_back(all.substr(0, at));
        all.erase(0, at + separator.size());
    }
    return texts;
}

std::vector<std::string> readLines(const std::filesystem::path& path) {
    std::istringstream file(test::readFile(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find_first_not_of(' ');
        const std::size_t last = line.find_last_not_of(' ');
        lines.push_back(first == std::string::npos ? "" : line.substr(first, last - first + 1));
    }
    return lines;
}

std::string testNameOf(const testing::TestParamInfo<std::string>& parameter) {
    std::string name = parameter.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class TokenizerGguf : public testing::TestWithParam<std::string> {};

TEST_P(TokenizerGguf, EncodesAsTheReferenceDoes) {
    QUERN_GOLDEN_OR_SKIP(folder, "tokenizers-gguf");
    auto tokenizer = loadTokenizer(folder / (GetParam() + ".gguf"));
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const std::vector<std::string> texts = readTexts(folder / (GetParam() + ".inp"));
    const std::vector<std::string> expected = readLines(folder / (GetParam() + ".out"));
    ASSERT_GT(texts.size(), 40U);
    ASSERT_EQ(texts.size(), expected.size());
    const bool isExact = (*tokenizer)->description().starts_with("BPE") ||
                         (*tokenizer)->description().starts_with("SentencePiece");
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto ids = (*tokenizer)->encode(texts[i], {});
        ASSERT_TRUE(ids) << ids.error().message;
        EXPECT_EQ(join(*ids), expected[i]) << "text " << i << ": " << texts[i];
        if (isExact) {
            EXPECT_EQ((*tokenizer)->decode(*ids, false), texts[i]) << "text " << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Golden, TokenizerGguf,
                         testing::Values("bert-bge", "deepseek-coder", "gpt-2", "llama-bpe",
                                         "llama-spm", "mpt", "phi-3", "qwen2", "refact"),
                         testNameOf);

TEST(TokenizerHuggingFace, EncodesAndDecodesAsTheReferenceDoes) {
    QUERN_GOLDEN_OR_SKIP(root, "tokenizers-hf");
    int folders = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        SCOPED_TRACE(entry.path().filename().string());
        ++folders;
        auto tokenizer = loadTokenizer(entry.path());
        ASSERT_TRUE(tokenizer) << tokenizer.error().message;
        const auto expected = test::readJson(entry.path() / "expected.json");
        for (const auto& item : expected["cases"]) {
            const std::string text = item["text"];
            const auto ids = (*tokenizer)->encode(text, {.parseSpecial = true});
            ASSERT_TRUE(ids) << ids.error().message;
            EXPECT_EQ(join(*ids), join(item["ids"])) << text;
            const auto special =
                (*tokenizer)->encode(text, {.addSpecial = true, .parseSpecial = true});
            EXPECT_EQ(join(*special), join(item["ids_with_special"])) << text;
            EXPECT_EQ((*tokenizer)->decode(*ids, false), item["decoded"].get<std::string>());
        }
    }
    EXPECT_GE(folders, 7);
}

}  // namespace
}  // namespace quern::engine
