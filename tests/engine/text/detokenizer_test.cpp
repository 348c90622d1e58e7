#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/text/tokenizer_utf8.h"
#include "tests/engine/text/tokenizer_fixtures.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

using Ids = std::vector<TokenId>;
using test::encode;

bool isWhole(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const text::DecodedChar c = text::decodeUtf8(text, i);
        if (c.length == 0) {
            return false;
        }
        i += c.length;
    }
    return true;
}

// Case 10.
TEST(Detokenizer, NeverEmitsPartsOfCharacters) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    Detokenizer detokenizer(*llama, true);
    EXPECT_EQ(detokenizer.push(15722), "");
    EXPECT_EQ(detokenizer.push(103), "歪");
    EXPECT_EQ(detokenizer.takeUnfinished(), "");
    EXPECT_EQ(detokenizer.push(15722), "");
    EXPECT_EQ(detokenizer.takeUnfinished(), "\xE6\xAD");
    EXPECT_EQ(detokenizer.takeUnfinished(), "");
}

TEST(Detokenizer, JoinsEmojiOfSeveralTokens) {
    for (const char* name : {"llama-bpe", "gpt-2", "qwen2", "llama-spm"}) {
        SCOPED_TRACE(name);
        QUERN_VOCABULARY_OR_SKIP(tokenizer, name);
        const std::string text = "a 🦙 b 😶‍🌫️ 歪 𝒜 \xC3\xA9 end";
        const Ids ids = encode(*tokenizer, text);
        Detokenizer detokenizer(*tokenizer, true);
        std::string all;
        for (const TokenId id : ids) {
            const std::string chunk = detokenizer.push(id);
            EXPECT_TRUE(isWhole(chunk));
            EXPECT_EQ(chunk.find("\xEF\xBF\xBD"), std::string::npos);
            all += chunk;
        }
        EXPECT_EQ(all + detokenizer.takeUnfinished(), tokenizer->decode(ids, true));
        EXPECT_EQ(all, text);
    }
}

TEST(Detokenizer, GivesWhatDecodingGives) {
    QUERN_GOLDEN_OR_SKIP(root, "tokenizers-hf");
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        SCOPED_TRACE(entry.path().filename().string());
        const auto tokenizer = loadTokenizer(entry.path());
        ASSERT_TRUE(tokenizer) << tokenizer.error().message;
        const auto expected = quern::test::readJson(entry.path() / "expected.json");
        for (const auto& item : expected["cases"]) {
            for (const bool skipSpecial : {false, true}) {
                const Ids ids = item["ids_with_special"].get<Ids>();
                Detokenizer detokenizer(**tokenizer, skipSpecial);
                std::string all;
                for (const TokenId id : ids) {
                    all += detokenizer.push(id);
                }
                EXPECT_EQ(all + detokenizer.takeUnfinished(),
                          (*tokenizer)->decode(ids, skipSpecial));
            }
        }
    }
}

TEST(Detokenizer, ReplacesBytesThatCannotBecomeCharacters) {
    test::SmallVocabulary small;
    const auto tokenizer = small.make();
    const auto push = [](Detokenizer& detokenizer, std::initializer_list<int> bytes) {
        std::string all;
        for (const int byte : bytes) {
            all += detokenizer.push(byte);
        }
        return all;
    };
    Detokenizer detokenizer(*tokenizer, true);
    const std::string mark = "\xEF\xBF\xBD";
    EXPECT_EQ(push(detokenizer, {0xFF, 'a'}), mark + "a");
    EXPECT_EQ(push(detokenizer, {0xE6, 'b'}), mark + "b");
    EXPECT_EQ(push(detokenizer, {0xE0, 0x80}), mark + mark);  // overlong
    EXPECT_EQ(push(detokenizer, {0xF0, 0x9F, 0xA6, 0x99}), "🦙");
    EXPECT_EQ(detokenizer.takeUnfinished(), "");
}

TEST(Detokenizer, EmitsOnlyUtf8ForAnyTokens) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    std::mt19937 random(7);
    Detokenizer detokenizer(*llama, false);
    for (int i = 0; i < 20000; ++i) {
        EXPECT_TRUE(isWhole(detokenizer.push(static_cast<TokenId>(random() % 300))));
    }
}

TEST(Detokenizer, TakesTheAddedSpaceAwayOnlyAtTheBeginning) {
    QUERN_VOCABULARY_OR_SKIP(spm, "llama-spm");
    const Ids ids = encode(*spm, "Hello world");
    ASSERT_TRUE(spm->addsSpacePrefix());
    EXPECT_EQ(spm->decode(ids, true), "Hello world");
    Detokenizer beginning(*spm, true);
    EXPECT_EQ(beginning.push(1), "");  // <s>
    EXPECT_EQ(beginning.push(ids[0]), "Hello");
    EXPECT_EQ(beginning.push(ids[1]), " world");
    Detokenizer middle(*spm, true, TextStart::kMiddle);
    EXPECT_EQ(middle.push(ids[0]), " Hello");
}

TEST(Detokenizer, ShowsControlTokensWhenAsked) {
    QUERN_VOCABULARY_OR_SKIP(llama, "llama-bpe");
    Detokenizer shows(*llama, false);
    EXPECT_EQ(shows.push(128009), "<|eot_id|>");
    Detokenizer hides(*llama, true);
    EXPECT_EQ(hides.push(128009), "");
    EXPECT_EQ(hides.push(-5), "");
    EXPECT_EQ(hides.push(1 << 30), "");
}

}  // namespace
}  // namespace quern::engine
