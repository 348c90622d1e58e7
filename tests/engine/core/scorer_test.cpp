// The first promise of the engine: the logits of a sequence are bitwise the same alone, in a batch,
// in any chunks, after a prefix hit and with any number of threads. On real weights.
#include "engine/score.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/golden.h"

namespace quern::engine {
namespace {

struct Variant {
    const char* name;
    void (*apply)(ScoreOptions&);
};
constexpr Variant kVariants[] = {
    {"chunks of 1", [](ScoreOptions& o) { o.chunk = 1; }},
    {"chunks of 7", [](ScoreOptions& o) { o.chunk = 7; }},
    {"chunks of 16", [](ScoreOptions& o) { o.chunk = 16; }},
    {"a batch of 2", [](ScoreOptions& o) { o.batch = 2; }},
    {"a batch of 5 in chunks of 5",
     [](ScoreOptions& o) {
         o.batch = 5;
         o.chunk = 5;
     }},
    {"a prefix hit", [](ScoreOptions& o) { o.prefix = true; }},
    {"a prefix hit in a batch of 3 in chunks of 9",
     [](ScoreOptions& o) {
         o.prefix = true;
         o.batch = 3;
         o.chunk = 9;
     }},
    {"1 thread", [](ScoreOptions& o) { o.threads = 1; }},
    {"3 threads in chunks of 11",
     [](ScoreOptions& o) {
         o.threads = 3;
         o.chunk = 11;
     }},
};

std::vector<float> scoreOf(const std::filesystem::path& model, const ScoreOptions& options,
                           std::span<const TokenId> ids) {
    auto scorer = Scorer::create(model, options);
    if (!scorer) {
        ADD_FAILURE() << scorer.error().message;
        return {};
    }
    auto logits = (*scorer)->logits(ids);
    if (!logits) {
        ADD_FAILURE() << logits.error().message;
        return {};
    }
    return std::move(*logits);
}

/// The first place where two results differ in a bit; −1 when they are equal.
std::ptrdiff_t firstDifference(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) {
        return 0;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) {
            return static_cast<std::ptrdiff_t>(i);
        }
    }
    return -1;
}

class ScorerEquality : public ::testing::TestWithParam<const char*> {};

TEST_P(ScorerEquality, IsBitwise) {
    QUERN_GOLDEN_OR_SKIP(folder, std::string("models/") + GetParam());
    const auto expected = test::readJson(folder / "expected.json");
    const auto longest = std::max_element(
        expected["cases"].begin(), expected["cases"].end(),
        [](const auto& a, const auto& b) { return a["ids"].size() < b["ids"].size(); });
    const auto ids = (*longest)["ids"].get<std::vector<TokenId>>();
    for (const kernels::DType kvType : {kernels::DType::kF32, kernels::DType::kF16}) {
        const ScoreOptions plain{.kvType = kvType};
        const std::vector<float> truth = scoreOf(folder, plain, ids);
        ASSERT_FALSE(truth.empty());
        for (const Variant& variant : kVariants) {
            ScoreOptions options = plain;
            variant.apply(options);
            const std::ptrdiff_t at = firstDifference(scoreOf(folder, options, ids), truth);
            EXPECT_EQ(at, -1) << variant.name << " differs at token "
                              << at / (static_cast<std::ptrdiff_t>(truth.size() / ids.size()));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Models, ScorerEquality,
                         ::testing::Values("llama", "llama3-rope", "qwen2", "qwen3", "gemma3"),
                         [](const auto& one) {
                             std::string name = one.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(Scorer, NamesWhatIsWrong) {
    EXPECT_EQ(Scorer::create("nowhere.gguf", {}).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(Scorer::create("nowhere.gguf", {.chunk = -1}).error().field, "chunk");
    EXPECT_EQ(Scorer::create("nowhere.gguf", {.batch = 0}).error().field, "batch");
    QUERN_GOLDEN_OR_SKIP(folder, "models/llama");
    auto scorer = Scorer::create(folder, {});
    ASSERT_TRUE(scorer) << scorer.error().message;
    EXPECT_FALSE((*scorer)->isQuantized());
    EXPECT_EQ((*scorer)->logits({}).error().field, "ids");
    const std::vector<TokenId> wrong = {1, 2, 1000000};
    EXPECT_EQ((*scorer)->logits(wrong).error().field, "ids");
    const std::vector<TokenId> tooMany(100000, 1);
    EXPECT_EQ((*scorer)->logits(tooMany).error().code, ErrorCode::kContextLength);
}

}  // namespace
}  // namespace quern::engine
