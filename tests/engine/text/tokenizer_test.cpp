#include <gtest/gtest.h>

#include <random>

#include "engine/text/pretokenizer_table.h"
#include "tests/engine/text/tokenizer_fixtures.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

using Ids = std::vector<TokenId>;
using test::encode;
using text::TokenKind;

// Cases 1 and 2 of the public reports.
TEST(TokenizerCases, EncodesMixedText) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    QUERN_VOCABULARY_OR_SKIP(qwen, "qwen2");
    const std::string text = "Hello, y'all! How are you 😁 ?我想在apple工作1314151天～";
    EXPECT_EQ(encode(*llama, text),
              (Ids{9906,  11,     379,   65948, 0,      2650, 527,   499, 27623, 223,  949,
                   37046, 101067, 19000, 23182, 102301, 9263, 18136, 16,  36827, 21909}));
    EXPECT_EQ(encode(*qwen, text),
              (Ids{9707,  11,    379,   64848, 0,  2585, 525, 498, 26525, 223, 937,   104100,
                   18493, 22377, 99257, 16,    18, 16,   19,  16,  20,    16,  35727, 21216}));
}

TEST(TokenizerCases, EncodesDigitsAccentsAndBlanks) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    QUERN_VOCABULARY_OR_SKIP(qwen, "qwen2");
    QUERN_VOCABULARY_OR_SKIP(gpt2, "gpt-2");
    QUERN_VOCABULARY_OR_SKIP(spm, "llama-spm");
    EXPECT_EQ(encode(*llama, "3333333"), (Ids{8765, 8765, 18}));
    EXPECT_EQ(encode(*qwen, "3333333"), Ids(7, 18));
    EXPECT_EQ(encode(*gpt2, "3333333"), (Ids{24840, 20370}));
    EXPECT_EQ(encode(*spm, "3333333"),
              (Ids{29871, 29941, 29941, 29941, 29941, 29941, 29941, 29941}));
    EXPECT_EQ(encode(*llama, "Äpfel"), (Ids{88075, 16276, 301}));
    EXPECT_EQ(encode(*qwen, "Äpfel"), (Ids{86975, 15897, 301}));
    EXPECT_EQ(encode(*gpt2, "Äpfel"), (Ids{127, 226, 79, 69, 417}));
    EXPECT_EQ(encode(*spm, "Äpfel"), (Ids{11585, 7810, 295}));
    EXPECT_EQ(encode(*llama, " "), (Ids{220}));
    EXPECT_EQ(encode(*qwen, " "), (Ids{220}));
    EXPECT_EQ(encode(*gpt2, " "), (Ids{220}));
    EXPECT_EQ(encode(*spm, " "), (Ids{259}));
    for (const char* text : {"3333333", "Äpfel", " "}) {
        for (const auto& tokenizer : {llama, qwen, gpt2, spm}) {
            EXPECT_EQ(tokenizer->decode(encode(*tokenizer, text), false), text);
        }
    }
}

// Case 3.
TEST(TokenizerCases, EncodesPartsOfCharacters) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    EXPECT_EQ(encode(*llama, "歪"), (Ids{15722, 103}));
    EXPECT_EQ(encode(*llama, "\xE6\xAD"), (Ids{15722}));
    EXPECT_EQ(llama->tokenBytes(15722), "\xE6\xAD");
}

// Case 4.
TEST(TokenizerCases, AddsBosOnce) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    const EncodeOptions both{.addSpecial = true, .parseSpecial = true};
    EXPECT_EQ(encode(*llama, "<|begin_of_text|>Hi", both), (Ids{128000, 13347}));
    EXPECT_EQ(encode(*llama, "Hi", both), (Ids{128000, 13347}));
    EXPECT_EQ(encode(*llama, "", both), (Ids{128000}));
    // Text that may not be parsed cannot be the token, so it is added.
    EXPECT_EQ(encode(*llama, "<|begin_of_text|>", {.addSpecial = true}).front(), 128000);
    EXPECT_GT(encode(*llama, "<|begin_of_text|>", {.addSpecial = true}).size(), 2U);
}

TEST(TokenizerCases, KeepsBosThatTheTextSpells) {
    test::SmallVocabulary small;
    small.data.bos = small.add("[gMask]", TokenKind::kControl);
    const TokenId sop = small.add("<sop>", TokenKind::kControl);
    small.data.addsBos = false;
    const auto tokenizer = small.make();
    EXPECT_EQ(encode(*tokenizer, "[gMask]<sop>", {.addSpecial = true, .parseSpecial = true}),
              (Ids{*small.data.bos, sop}));
}

TEST(Tokenizer, ATextThatGoesOnGetsNoEnd) {
    test::SmallVocabulary small;
    small.data.bos = small.add("<s>", TokenKind::kControl);
    small.data.eos = small.add("</s>", TokenKind::kControl);
    small.data.addsBos = true;
    small.data.addsEos = true;
    const auto tokenizer = small.make();
    const TokenId bos = *small.data.bos;
    EXPECT_EQ(encode(*tokenizer, "hello", {.addSpecial = true, .parseSpecial = true}),
              (Ids{bos, 259, *small.data.eos}));
    for (const char* text : {"hello", "<s>hello"}) {
        EXPECT_EQ(
            encode(*tokenizer, text, {.addSpecial = true, .addEnd = false, .parseSpecial = true}),
            (Ids{bos, 259}));
    }
}

TEST(Tokenizer, ParsesControlTokensOnlyWhenAsked) {
    test::SmallVocabulary small;
    const TokenId end = small.add("<|im_end|>", TokenKind::kControl);
    const TokenId user = small.add("<tool>", TokenKind::kUserDefined);
    const TokenId longer = small.add("<tool>s", TokenKind::kUserDefined);
    const auto tokenizer = small.make();
    EXPECT_EQ(encode(*tokenizer, "hello<|im_end|>", {.parseSpecial = true}), (Ids{259, end}));
    const Ids plain = encode(*tokenizer, "hello<|im_end|>");
    EXPECT_EQ(std::count(plain.begin(), plain.end(), end), 0);
    EXPECT_EQ(tokenizer->decode(plain, true), "hello<|im_end|>");
    EXPECT_EQ(encode(*tokenizer, "hello<tool>hello"), (Ids{259, user, 259}));
    EXPECT_EQ(encode(*tokenizer, "<tool>s"), (Ids{longer}));
    EXPECT_TRUE(tokenizer->isControl(end));
    EXPECT_FALSE(tokenizer->isControl(user));
    EXPECT_EQ(tokenizer->special().endOfGeneration, Ids{end});
    EXPECT_EQ(tokenizer->decode(Ids{259, end}, true), "hello");
    EXPECT_EQ(tokenizer->decode(Ids{259, end}, false), "hello<|im_end|>");
}

TEST(Tokenizer, NeverMakesControlTokensOfPlainText) {
    QUERN_VOCABULARY_OR_SKIP(spm, "llama-spm");
    for (const char* text : {"</s>", "<s>", "<unk>", "<0x0A>", "a</s>b", " <s> "}) {
        for (const TokenId id : encode(*spm, text)) {
            EXPECT_FALSE(spm->isControl(id)) << text;
        }
        EXPECT_EQ(spm->decode(encode(*spm, text), true), text);
    }
}

TEST(Tokenizer, GivesAnyBytesBack) {
    for (const char* name : {"llama-bpe", "gpt-2", "qwen2", "llama-spm", "phi-3"}) {
        SCOPED_TRACE(name);
        QUERN_VOCABULARY_OR_SKIP(tokenizer, name);
        const unsigned seed = 20260115;
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        for (int round = 0; round < 300; ++round) {
            std::string text;
            const auto length = random() % 40;
            for (std::size_t i = 0; i < length; ++i) {
                const auto kind = random() % 4;
                text += kind == 0   ? std::string(1, static_cast<char>(random() % 256))
                        : kind == 1 ? std::string(1, static_cast<char>(32 + random() % 95))
                        : kind == 2 ? std::string("\xF4\x8F\xBF\xBF")  // U+10FFFF
                                    : std::string(" é");
            }
            EXPECT_EQ(tokenizer->decode(encode(*tokenizer, text), false), text);
        }
    }
}

TEST(Tokenizer, KnowsItsTokens) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    EXPECT_EQ(llama->vocabSize(), 128256);
    EXPECT_EQ(llama->find("<|eot_id|>"), 128009);
    EXPECT_EQ(llama->find("no such token"), std::nullopt);
    EXPECT_EQ(llama->tokenBytes(-1), "");
    EXPECT_EQ(llama->tokenBytes(128256), "");
    EXPECT_EQ(llama->special().bos, 128000);
    const Ids& ends = llama->special().endOfGeneration;
    for (const TokenId end : {128001, 128008, 128009}) {
        const bool isEom = end == 128008;  // <|eom_id|> has another name in this vocabulary
        EXPECT_EQ(std::count(ends.begin(), ends.end(), end), isEom ? 0 : 1) << end;
    }
    EXPECT_EQ(llama->description(), "BPE (llama-bpe)");
    EXPECT_FALSE(llama->addsSpacePrefix());
}

TEST(Tokenizer, KnowsFillInTheMiddle) {
    QUERN_VOCABULARY_OR_SKIP(refact, "refact");
    EXPECT_EQ(refact->special().fimPrefix, 1);
    EXPECT_EQ(refact->special().fimMiddle, 2);
    EXPECT_EQ(refact->special().fimSuffix, 3);
}

TEST(Tokenizer, EndsHarmonyRepliesOnlyAtReturnOrCall) {
    test::SmallVocabulary small;
    const TokenId end = small.add("<|end|>", TokenKind::kControl);
    const TokenId back = small.add("<|return|>", TokenKind::kControl);
    const TokenId call = small.add("<|call|>", TokenKind::kControl);
    EXPECT_EQ(small.make()->special().endOfGeneration, (Ids{back, call}));
    test::SmallVocabulary phi;
    const TokenId phiEnd = phi.add("<|end|>", TokenKind::kControl);
    EXPECT_EQ(phi.make()->special().endOfGeneration, Ids{phiEnd});
    EXPECT_EQ(end, phiEnd);
}

TEST(Tokenizer, AddsWhatBertAdds) {
    QUERN_VOCABULARY_OR_SKIP(bert, "bert-bge");
    const Ids ids = encode(*bert, "hello", {.addSpecial = true});
    EXPECT_EQ(ids, (Ids{101, 7592, 102}));
    EXPECT_EQ(bert->decode(ids, true), "hello");
}

TEST(Tokenizer, RefusesWhatItDoesNotKnowByName) {
    test::SmallVocabulary small;
    text::TokenizerData data = small.data;
    data.tokens = {"a"};
    data.pre = "no-such-splitter";
    const auto splitter = text::makeGgufTokenizer(data);
    ASSERT_FALSE(splitter);
    EXPECT_EQ(splitter.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(splitter.error().message.find("no-such-splitter"), std::string::npos);
    data.model = "plamo2";
    const auto model = text::makeGgufTokenizer(data);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(model.error().message.find("plamo2"), std::string::npos);
}

TEST(Tokenizer, RefusesBrokenVocabularies) {
    const auto expectCorrupt = [](const text::TokenizerData& data, const char* field) {
        const auto tokenizer = text::makeGgufTokenizer(data);
        ASSERT_FALSE(tokenizer) << field;
        EXPECT_EQ(tokenizer.error().code, ErrorCode::kCorrupt);
        EXPECT_NE(tokenizer.error().message.find(field), std::string::npos)
            << tokenizer.error().message;
    };
    text::TokenizerData data;
    data.model = "gpt2";
    expectCorrupt(data, "tokens");
    data.tokens = {"a", "b"};
    data.kinds = {TokenKind::kNormal};
    expectCorrupt(data, "token_type");
    data.kinds.clear();
    data.scores = {1.0F, 2.0F, 3.0F};
    expectCorrupt(data, "scores");
    data.scores.clear();
    data.merges = {"a b", "ab"};
    expectCorrupt(data, "merges[1]");
    data.merges.clear();
    data.model = "llama";
    expectCorrupt(data, "scores");
    data.scores = {1.0F, std::numeric_limits<float>::quiet_NaN()};
    expectCorrupt(data, "score");
    data.model = "t5";
    data.scores = {1.0F, 2.0F};
    data.characterMap = "\xFF\xFF\xFF\xFF junk";
    expectCorrupt(data, "precompiled_charsmap");
}

TEST(Tokenizer, IgnoresSpecialIdsThatAreNotThere) {
    test::SmallVocabulary small;
    small.data.bos = 100000;
    small.data.padding = -1;
    small.data.addsBos = true;
    const auto tokenizer = small.make();
    EXPECT_EQ(tokenizer->special().bos, std::nullopt);
    EXPECT_EQ(encode(*tokenizer, "hello", {.addSpecial = true}), (Ids{259}));
}

TEST(Tokenizer, LeavesOutWhatABpeHasNoTokenFor) {
    text::TokenizerData data;
    data.model = "gpt2";
    data.tokens = {"a", "aa"};
    data.merges = {"a a"};
    const auto tokenizer = text::makeGgufTokenizer(data);
    ASSERT_TRUE(tokenizer);
    EXPECT_EQ(encode(**tokenizer, "aba"), (Ids{1}));
    EXPECT_EQ(encode(**tokenizer, "b"), Ids{});
}

TEST(Tokenizer, TakesTheLongestTokenOfAWorldVocabulary) {
    text::TokenizerData data;
    data.model = "rwkv";
    data.tokens = {"<s>", "a", "ab", "abc", "\\xe4\\xbd", "\\xa0", "\\n", "\\\\", "\\t'", "é"};
    data.kinds.assign(data.tokens.size(), TokenKind::kNormal);
    data.kinds[0] = TokenKind::kControl;
    const auto tokenizer = text::makeGgufTokenizer(data);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const std::string text = "abcab\n\\你a\t'é";
    const Ids ids = encode(**tokenizer, text);
    EXPECT_EQ(ids, (Ids{3, 2, 6, 7, 4, 5, 1, 8, 9}));
    EXPECT_EQ((*tokenizer)->decode(ids, false), text);
    EXPECT_EQ((*tokenizer)->tokenBytes(4), "\xE4\xBD");
    EXPECT_EQ(encode(**tokenizer, "a<s>z", {.parseSpecial = true}), (Ids{1, 0}));
    data.unknown = 1;
    const auto withUnknown = text::makeGgufTokenizer(data);
    ASSERT_TRUE(withUnknown) << withUnknown.error().message;
    EXPECT_EQ(encode(**withUnknown, "z好ab"), (Ids{1, 1, 1, 1, 2}));
}

TEST(Tokenizer, TellsWhichCharacterHasNoToken) {
    text::TokenizerData data;
    data.model = "llama";
    data.addsSpacePrefix = false;
    data.tokens = {"a"};
    data.scores = {0.0F};
    const auto tokenizer = text::makeGgufTokenizer(data);
    ASSERT_TRUE(tokenizer);
    const auto ids = (*tokenizer)->encode("ab", {});
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(ids.error().message.find("U+0062"), std::string::npos) << ids.error().message;
}

TEST(Tokenizer, EncodesLongRunsLikeShortOnes) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    // Far beyond the length at which merging changes its method, and many merges deep.
    const std::string line(200'000, 'a');
    EXPECT_EQ(llama->decode(encode(*llama, line), false), line);
    std::string mixed;
    for (int i = 0; i < 3000; ++i) {
        mixed += "abracadabra"[i % 11];
    }
    EXPECT_EQ(llama->decode(encode(*llama, mixed), false), mixed);
    EXPECT_LT(encode(*llama, line).size(), line.size() / 7);
}

TEST(Tokenizer, SaysWhereThereIsNone) {
    const auto file = loadTokenizer("/nonexistent/model.gguf");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
    const auto folder = loadTokenizer(std::filesystem::temp_directory_path());
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace quern::engine
