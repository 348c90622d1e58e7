#include "engine/text/normalizer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/text/normalizer_charsmap.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

TEST(Normalizer, MakesUnicodeForms) {
    EXPECT_EQ(makeUnicodeForm(UnicodeForm::kNfc)->apply("a\u0301 ﬁ"), "á ﬁ");
    EXPECT_EQ(makeUnicodeForm(UnicodeForm::kNfd)->apply("á"), "a\u0301");
    EXPECT_EQ(makeUnicodeForm(UnicodeForm::kNfkc)->apply("ﬁ①"), "fi1");
    EXPECT_EQ(makeUnicodeForm(UnicodeForm::kNfkd)->apply("½"), "1⁄2");
    const std::string withNul("é\0x", 4);
    EXPECT_EQ(makeUnicodeForm(UnicodeForm::kNfc)->apply(withNul), withNul);
}

TEST(Normalizer, LowersAndStrips) {
    EXPECT_EQ(makeLowercase()->apply("ÄİΣ"), "äi\u0307σ");
    EXPECT_EQ(makeStripAccents()->apply("a\u0301"), "a");
    EXPECT_EQ(makeStrip(true, false)->apply(" \u3000a "), "a ");
    EXPECT_EQ(makeStrip(true, true)->apply("   "), "");
    EXPECT_EQ(makePrepend("▁")->apply(""), "");
    EXPECT_EQ(makePrepend("▁")->apply("a"), "▁a");
    EXPECT_EQ(makeReplaceString("aa", "a")->apply("aaaa"), "aa");
}

TEST(Normalizer, CleansForBert) {
    EXPECT_EQ(makeBertNormalizer({})->apply("Héllo\t\u0085你x\u200d"), "hello  你 x");
    // Not assigned, private, and ideographs that the reference spaces and does not space.
    EXPECT_EQ(makeBertNormalizer({})->apply("a\u0378b\ue000c\U0002B920d\U0002B820e"),
              "a\u0378bc \U0002B920 d\U0002B820e");
    EXPECT_EQ(
        makeBertNormalizer(
            {.cleansText = false, .spacesCjk = false, .stripsAccents = false, .lowercases = false})
            ->apply("H\té你"),
        "H\té你");
}

/// A map with one rule, made by hand: "a" becomes "xyz".
std::string smallMap() {
    // Unit 0 leads to offset 1; at 1 ^ 'a' stands the node of 'a', whose leaf is at its offset.
    std::vector<std::uint32_t> units(256, 0);
    const std::uint32_t node = 1 ^ 'a';
    units[0] = 1U << 10;
    units[node] = 'a' | (1U << 8) | (1U << 10);
    units[node ^ 1] = 0x80000000U;  // value 0: the first replacement
    std::string blob(4 + units.size() * 4, '\0');
    const auto bytes = static_cast<std::uint32_t>(units.size() * 4);
    std::memcpy(blob.data(), &bytes, 4);
    std::memcpy(blob.data() + 4, units.data(), bytes);
    return blob + std::string("xyz\0", 4);
}

TEST(CharacterMap, Replaces) {
    auto map = CharacterMap::create(smallMap());
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(makePrecompiled(std::move(*map))->apply("bab"), "bxyzb");
    SentencePieceNormalizerOptions options;
    options.map = std::move(*CharacterMap::create(smallMap()));
    EXPECT_EQ(makeSentencePieceNormalizer(std::move(options))->apply("  a  b "), "▁xyz▁b");
    options = {.addsSpacePrefix = false, .collapsesSpaces = false};
    EXPECT_EQ(makeSentencePieceNormalizer(std::move(options))->apply("a b "), "a▁b▁");
}

TEST(CharacterMap, RefusesSizesThatDoNotFit) {
    const std::string huge("\xFF\xFF\xFF\x7Fxxxx", 8);
    for (const std::string& blob : {std::string(), std::string("abc"), std::string(4, '\0'), huge,
                                    std::string("\3\0\0\0abc", 7)}) {
        const auto map = CharacterMap::create(blob);
        ASSERT_FALSE(map);
        EXPECT_EQ(map.error().code, ErrorCode::kCorrupt);
    }
}

TEST(CharacterMap, SurvivesUnitsThatPointAnywhere) {
    std::string blob = smallMap();
    for (std::size_t i = 4; i < blob.size() - 4; ++i) {
        blob[i] = static_cast<char>(i * 37 + 11);
    }
    auto map = CharacterMap::create(blob);
    ASSERT_TRUE(map);
    std::string text;
    for (int i = 0; i < 2000; ++i) {
        appendUtf8(text, static_cast<char32_t>(1 + (i * 7919) % 0xD000));
    }
    EXPECT_FALSE(needsEscape(makePrecompiled(std::move(*map))->apply(text).value_or("")));
    SentencePieceNormalizerOptions options;
    options.map = std::move(*CharacterMap::create(blob));
    EXPECT_FALSE(
        needsEscape(makeSentencePieceNormalizer(std::move(options))->apply(text).value_or("")));
}

TEST(Utf8, EscapesAndRestoresAnyBytes) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) {
        all += static_cast<char>(byte);
    }
    for (const std::string& bytes :
         {all, std::string("\xF4\x8F\xBF\xBF"), std::string("\xED\xA0\x80"), std::string("\xC3")}) {
        EXPECT_TRUE(needsEscape(bytes));
        const std::string escaped = escapeInvalid(bytes);
        for (std::size_t i = 0; i < escaped.size();) {
            const DecodedChar c = decodeUtf8(escaped, i);
            ASSERT_GT(c.length, 0U);
            i += c.length;
        }
        std::string back;
        appendUnescaped(back, escaped);
        EXPECT_EQ(back, bytes);
    }
    EXPECT_FALSE(needsEscape("plain é 你 😀"));
}

TEST(Utf8, FindsUnfinishedTails) {
    EXPECT_EQ(incompleteTail("ab"), 2U);
    EXPECT_EQ(incompleteTail("a\xE6\xAD"), 1U);
    EXPECT_EQ(incompleteTail("a\xF0\x9F\xA6"), 1U);
    EXPECT_EQ(incompleteTail("a\xF0"), 1U);
    EXPECT_EQ(incompleteTail("a\xE0\x80"), 3U);  // can become nothing
    EXPECT_EQ(incompleteTail("a\x80"), 2U);
    EXPECT_EQ(incompleteTail("é"), 2U);
    EXPECT_EQ(incompleteTail(""), 0U);
}

}  // namespace
}  // namespace quern::engine::text
