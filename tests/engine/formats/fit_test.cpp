#include <gtest/gtest.h>

#include "engine/model_info.h"

namespace quern::engine {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kGiB = 1024 * kMiB;

// SmolLM2 135M: 30 layers, 3 key/value heads of 64.
ModelInfo smallModel() {
    ModelInfo info;
    info.isSupported = true;
    info.weightBytes = 92 * kMiB;
    info.contextTokens = 8192;
    info.hiddenSize = 576;
    info.intermediateSize = 1536;
    info.queryElements = 576;
    info.vocabSize = 49152;
    info.cacheLayers.assign(30, {.elementsPerToken = 2 * 3 * 64, .window = 0});
    return info;
}

std::int64_t itemBytes(const FitEstimate& estimate, const std::string& name) {
    for (const FitItem& item : estimate.items) {
        if (item.name == name) {
            return item.bytes;
        }
    }
    return -1;
}

TEST(Fit, CacheBytesFollowTheFormula) {
    const ModelInfo info = smallModel();
    EXPECT_EQ(kvBytesOfContext(info, {}, 8192), 30LL * 384 * 8192 * 2);
    EXPECT_EQ(kvBytesOfContext(info, {.kvType = kernels::DType::kF32}, 8192),
              30LL * 384 * 8192 * 4);
    EXPECT_EQ(kvBytesOfContext(info, {}, 1), 30LL * 384 * 16 * 2);  // whole blocks
    ModelInfo windowed = info;
    windowed.cacheLayers.assign(1, {.elementsPerToken = 10, .window = 100});
    // Window, one step and a block more at the border, in whole blocks.
    EXPECT_EQ(kvBytesOfContext(windowed, {.stepTokens = 28}, 8192), 10 * 144 * 2);
    EXPECT_EQ(kvBytesOfContext(windowed, {.stepTokens = 28}, 32), 10 * 32 * 2);
}

TEST(Fit, StatesCountByTheSequence) {
    ModelInfo info = smallModel();
    info.cacheLayers = {{.elementsPerToken = 10}, {.stateFloats = 1000}};
    EXPECT_EQ(kvBytesOfContext(info, {}, 32), 10 * 32 * 2 + 4 * 4000) << "float32, four of them";
    EXPECT_EQ(kvBytesOfContext(info, {}, 320), 10 * 320 * 2 + 4 * 4000);
    info.cacheLayers.assign(2, {.stateFloats = 1000});
    const auto estimate = estimateFit(info, {}, 16 * kGiB);
    ASSERT_TRUE(estimate.has_value()) << estimate.error().message;
    EXPECT_EQ(itemBytes(*estimate, "KV cache"), 16 * 2 * 4 * 4000) << "for sixteen sequences";
}

TEST(Fit, FitsWithFourContextsWhereThereIsRoom) {
    const auto estimate = estimateFit(smallModel(), {}, 16 * kGiB);
    ASSERT_TRUE(estimate.has_value()) << estimate.error().message;
    EXPECT_EQ(estimate->fit, Fit::kFits);
    EXPECT_EQ(estimate->contextTokens, 8192);
    EXPECT_EQ(itemBytes(*estimate, "KV cache"), 4 * kvBytesOfContext(smallModel(), {}, 8192));
    EXPECT_EQ(estimate->kvTokens, 4 * 8192);
    std::int64_t sum = 0;
    for (const FitItem& item : estimate->items) {
        sum += item.bytes;
    }
    EXPECT_EQ(estimate->totalBytes, sum);
    EXPECT_TRUE(estimate->advice.empty());
}

TEST(Fit, TheCacheShrinksToOneContextBeforeAnythingElse) {
    const auto estimate = estimateFit(smallModel(), {}, 750 * kMiB);
    ASSERT_TRUE(estimate.has_value());
    EXPECT_EQ(estimate->fit, Fit::kFits);
    EXPECT_LT(estimate->kvTokens, 4 * 8192);
    EXPECT_GE(estimate->kvTokens, 8192);
    EXPECT_LE(estimate->totalBytes, 750 * kMiB);
}

TEST(Fit, TightThenNotAtAll) {
    const auto tight = estimateFit(smallModel(), {}, 450 * kMiB);
    ASSERT_TRUE(tight.has_value());
    EXPECT_EQ(tight->fit, Fit::kTight);
    EXPECT_FALSE(tight->advice.empty());
    const auto none = estimateFit(smallModel(), {}, 20 * kMiB);
    ASSERT_TRUE(none.has_value());
    EXPECT_EQ(none->fit, Fit::kDoesNotFit);
    EXPECT_NE(none->advice.find("smaller"), std::string::npos) << none->advice;
}

TEST(Fit, AdviceOfAContextIsTrue) {
    ModelInfo info = smallModel();
    info.contextTokens = 1 << 20;
    const LoadOptions options{.contextTokens = 1 << 20};
    const auto estimate = estimateFit(info, options, 4 * kGiB);
    ASSERT_TRUE(estimate.has_value());
    EXPECT_EQ(estimate->fit, Fit::kDoesNotFit);
    ASSERT_TRUE(estimate->advice.starts_with("a context of ")) << estimate->advice;
    LoadOptions advised = options;
    advised.contextTokens = std::stoll(estimate->advice.substr(13));
    EXPECT_GT(advised.contextTokens, 8192);
    EXPECT_EQ(estimateFit(info, advised, 4 * kGiB)->fit, Fit::kFits);
    advised.contextTokens += 64;
    EXPECT_NE(estimateFit(info, advised, 4 * kGiB)->fit, Fit::kFits);
}

TEST(Fit, WhatFitsWithoutTheMarginIsAdvised) {
    const auto estimate = estimateFit(smallModel(), {}, 300 * kMiB);
    ASSERT_TRUE(estimate.has_value());
    EXPECT_EQ(estimate->fit, Fit::kDoesNotFit);
    ASSERT_TRUE(estimate->advice.starts_with("a context of ")) << estimate->advice;
    EXPECT_TRUE(estimate->advice.ends_with("tightly")) << estimate->advice;
    LoadOptions advised;
    advised.contextTokens = std::stoll(estimate->advice.substr(13));
    EXPECT_EQ(estimateFit(smallModel(), advised, 300 * kMiB)->fit, Fit::kTight);
    advised.contextTokens += 32;
    EXPECT_EQ(estimateFit(smallModel(), advised, 300 * kMiB)->fit, Fit::kDoesNotFit);
}

TEST(Fit, CacheSmallerThanAContextIsRefused) {
    const auto estimate = estimateFit(smallModel(), {.kvBytes = kMiB}, 16 * kGiB);
    ASSERT_TRUE(estimate.has_value());
    EXPECT_EQ(estimate->fit, Fit::kDoesNotFit);
    EXPECT_NE(estimate->advice.find("KV memory"), std::string::npos) << estimate->advice;
    EXPECT_EQ(itemBytes(*estimate, "KV cache"), kMiB);
}

TEST(Fit, RefusesWhatItCannotEstimate) {
    EXPECT_EQ(estimateFit(smallModel(), {.contextTokens = 8193}, kGiB).error().code,
              ErrorCode::kInvalidArgument);
    ModelInfo unknown = smallModel();
    unknown.isSupported = false;
    unknown.whyNot = "architecture 'martian' is not known";
    EXPECT_EQ(estimateFit(unknown, {}, kGiB).error().code, ErrorCode::kUnsupported);
}

TEST(Fit, HugeSizesSaturate) {
    ModelInfo info = smallModel();
    info.contextTokens = (std::int64_t{1} << 31) - 1;
    info.cacheLayers.assign(1000, {.elementsPerToken = std::int64_t{1} << 49, .window = 0});
    const auto estimate =
        estimateFit(info, {.contextTokens = info.contextTokens, .stepTokens = 1 << 30}, kGiB);
    ASSERT_TRUE(estimate.has_value());
    EXPECT_EQ(estimate->fit, Fit::kDoesNotFit);
    EXPECT_GT(estimate->totalBytes, 0);
    const auto promised = estimateFit(info, {}, -kGiB);
    ASSERT_TRUE(promised.has_value());
    EXPECT_EQ(promised->freeBytes, 0);
    EXPECT_EQ(promised->fit, Fit::kDoesNotFit);
}

}  // namespace
}  // namespace quern::engine
