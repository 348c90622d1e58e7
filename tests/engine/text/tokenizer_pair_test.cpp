// Two texts as one sequence: ids and types as the reference tokenizers (0.23) give them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/text.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using nlohmann::ordered_json;
using Ids = std::vector<TokenId>;

constexpr const char* kQuery = "a query";
constexpr const char* kDocument = "the document here";

/// The pair by a golden tokenizer, with another post-processor where one is given.
Result<EncodedPair> pairBy(const std::filesystem::path& golden, const char* processor = nullptr) {
    const test::TempFolder folder;
    ordered_json document = test::readJson(golden / "tokenizer.json");
    if (processor != nullptr) {
        document["post_processor"] = ordered_json::parse(processor);
    }
    test::writeFile(folder.path() / "tokenizer.json", document.dump());
    const auto tokenizer = loadTokenizer(folder.path());
    if (!tokenizer) {
        return tl::unexpected<Error>(tokenizer.error());
    }
    return (*tokenizer)->encodePair(kQuery, kDocument);
}

void expectPair(const Result<EncodedPair>& pair, const Ids& ids, std::int64_t secondFrom,
                bool hasTypes) {
    ASSERT_TRUE(pair.has_value()) << pair.error().message;
    EXPECT_EQ(pair->ids, ids);
    EXPECT_EQ(pair->secondFrom, secondFrom);
    EXPECT_EQ(pair->hasTypes, hasTypes);
}

TEST(TokenizerPairs, ByTheTemplateOfTheFile) {
    QUERN_GOLDEN_OR_SKIP(llama3, "tokenizers-hf/bpe-split-regex-llama3");
    QUERN_GOLDEN_OR_SKIP(unigram, "tokenizers-hf/unigram-metaspace");
    QUERN_GOLDEN_OR_SKIP(wordPiece, "tokenizers-hf/wordpiece-bert");
    expectPair(pairBy(llama3), {0, 66, 222, 619, 271, 90, 1331, 694, 68, 466, 520}, 6, false);
    expectPair(pairBy(unigram), {16, 4, 284, 29, 48, 9, 674, 102}, 5, true);
    expectPair(pairBy(wordPiece), {44, 788, 142, 153, 211, 763, 410}, 4, true);
}

TEST(TokenizerPairs, ByProcessorsOfBertAndRoberta) {
    QUERN_GOLDEN_OR_SKIP(wordPiece, "tokenizers-hf/wordpiece-bert");
    expectPair(pairBy(wordPiece,
                      R"({"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]})"),
               {2, 44, 788, 142, 153, 3, 211, 763, 410, 3}, 6, true);
    expectPair(pairBy(wordPiece,
                      R"({"type": "RobertaProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2],
                          "trim_offsets": true, "add_prefix_space": false})"),
               {2, 44, 788, 142, 153, 3, 3, 211, 763, 410, 3}, 7, false);
}

TEST(TokenizerPairs, ATextThatSpellsASpecialTokenStaysAText) {
    QUERN_GOLDEN_OR_SKIP(wordPiece, "tokenizers-hf/wordpiece-bert");
    const auto tokenizer = loadTokenizer(wordPiece / "tokenizer.json");
    ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
    const auto pair = (*tokenizer)->encodePair("a", "b [SEP] c");
    ASSERT_TRUE(pair.has_value()) << pair.error().message;
    EXPECT_EQ(std::ranges::find(pair->ids, 3), pair->ids.end());
}

TEST(TokenizerPairs, AreRefusedWhereTheFileKnowsNone) {
    QUERN_GOLDEN_OR_SKIP(gpt2, "tokenizers-hf/bpe-bytelevel-gpt2");
    const auto pair = pairBy(gpt2);
    ASSERT_FALSE(pair.has_value());
    EXPECT_EQ(pair.error().code, ErrorCode::kUnsupported);
}

TEST(TokenizerPairs, OfAGgufVocabularyOfBert) {
    test::GgufBuilder builder;
    builder.string("general.architecture", "bert")
        .string("tokenizer.ggml.model", "bert")
        .strings("tokenizer.ggml.tokens",
                 {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581a", "\u2581b", "\u2581c"})
        .u32("tokenizer.ggml.bos_token_id", 2)
        .u32("tokenizer.ggml.eos_token_id", 3);
    const test::TempFolder folder;
    builder.write(folder.path() / "v.gguf");
    const auto tokenizer = loadTokenizer(folder.path() / "v.gguf");
    ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
    expectPair((*tokenizer)->encodePair("a b", "c"), {2, 4, 5, 3, 6, 3}, 4, true);
}

}  // namespace
}  // namespace quern::engine
