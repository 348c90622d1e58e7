#include "engine/core/infill.h"

#include <gtest/gtest.h>

#include "tests/support/fake_tokenizer.h"

namespace quern::engine {
namespace {

constexpr TokenId kBos = test::FakeTokenizer::kBos;
constexpr TokenId kPrefix = test::FakeTokenizer::kFirstPiece;
constexpr TokenId kSuffix = kPrefix + 1;
constexpr TokenId kMiddle = kPrefix + 2;

/// A tokenizer whose markers are those that a case gives it.
class MarkedTokenizer final : public test::FakeTokenizer {
public:
    MarkedTokenizer(std::optional<TokenId> prefix, std::optional<TokenId> suffix,
                    std::optional<TokenId> middle)
        : FakeTokenizer({"<pre>", "<suf>", "<mid>"}), m_marked(FakeTokenizer::special()) {
        m_marked.fimPrefix = prefix;
        m_marked.fimSuffix = suffix;
        m_marked.fimMiddle = middle;
    }
    [[nodiscard]] const SpecialTokens& special() const override { return m_marked; }

private:
    SpecialTokens m_marked;
};

TEST(Infill, PutsTheMiddleLast) {
    const MarkedTokenizer tokenizer(kPrefix, kSuffix, kMiddle);
    const auto ids = infillIds(tokenizer, {.prefix = "ab", .suffix = "c"});
    ASSERT_TRUE(ids.has_value()) << ids.error().message;
    EXPECT_EQ(*ids, (std::vector<TokenId>{kBos, kPrefix, 'a', 'b', kSuffix, 'c', kMiddle}));
}

TEST(Infill, EndsWithThePrefixWhereNoMiddleIsMarked) {
    const MarkedTokenizer tokenizer(kPrefix, kSuffix, std::nullopt);
    const auto ids = infillIds(tokenizer, {.prefix = "ab", .suffix = "c"});
    ASSERT_TRUE(ids.has_value()) << ids.error().message;
    EXPECT_EQ(*ids, (std::vector<TokenId>{kBos, kSuffix, 'c', kPrefix, 'a', 'b'}));
}

TEST(Infill, TakesMarkersInTheTextAsText) {
    const MarkedTokenizer tokenizer(kPrefix, kSuffix, kMiddle);
    const auto ids = infillIds(tokenizer, {.prefix = "<s>", .suffix = ""});
    ASSERT_TRUE(ids.has_value()) << ids.error().message;
    EXPECT_EQ(*ids, (std::vector<TokenId>{kBos, kPrefix, '<', 's', '>', kSuffix, kMiddle}));
}

TEST(Infill, RefusesAModelWithoutMarkers) {
    for (const auto& tokenizer : {MarkedTokenizer({}, {}, {}), MarkedTokenizer(kPrefix, {}, {}),
                                  MarkedTokenizer({}, kSuffix, kMiddle)}) {
        const auto ids = infillIds(tokenizer, {.prefix = "a", .suffix = "b"});
        ASSERT_FALSE(ids.has_value());
        EXPECT_EQ(ids.error().code, ErrorCode::kUnsupported);
        EXPECT_EQ(ids.error().field, "suffix");
    }
}

}  // namespace
}  // namespace quern::engine
