#include "engine/model/rope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace quern::engine {
namespace {

using Scaling = RopeSpec::Scaling;

/// The published formulas in double precision, one closed form a scaling.
double plain(const RopeSpec& spec, double theta, std::size_t i) {
    return std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(spec.rotaryDim));
}

double llama3(const RopeSpec& spec, std::size_t i) {
    const double freq = plain(spec, spec.theta, i);
    const double turns = static_cast<double>(spec.originalContext) * freq / (2 * std::numbers::pi);
    const double keep = std::clamp(
        (turns - spec.lowFreqFactor) / (spec.highFreqFactor - spec.lowFreqFactor), 0.0, 1.0);
    return keep * freq + (1 - keep) * freq / spec.factor;
}

double yarn(const RopeSpec& spec, std::size_t i) {
    const auto dim = static_cast<double>(spec.rotaryDim);
    const auto column = [&](double turns) {
        return dim / 2 *
               std::log(static_cast<double>(spec.originalContext) /
                        (2 * std::numbers::pi * turns)) /
               std::log(spec.theta);
    };
    double low = column(spec.betaFast);
    double high = column(spec.betaSlow);
    if (spec.yarnTruncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, dim - 1);
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    const double freq = plain(spec, spec.theta, i);
    return freq * (1 - ramp) + freq / spec.factor * ramp;
}

template <class Formula>
void expectTable(const RopeSpec& spec, std::int64_t context, double magnitude, Formula formula) {
    const auto table = ropeTable(spec, context);
    ASSERT_TRUE(table.has_value()) << table.error().message;
    ASSERT_EQ(table->freqs.size(), static_cast<std::size_t>(spec.rotaryDim / 2));
    for (std::size_t i = 0; i < table->freqs.size(); ++i) {
        const double expected = formula(i);
        EXPECT_NEAR(table->freqs[i], expected, 4e-7 * expected) << "frequency " << i;
    }
    EXPECT_NEAR(table->magnitude, magnitude, 1e-6);
}

TEST(Rope, PlainIsTheGeometricSeries) {
    const RopeSpec spec{.rotaryDim = 128, .theta = 500000};
    expectTable(spec, 8192, 1, [&](std::size_t i) { return plain(spec, spec.theta, i); });
}

TEST(Rope, LinearDividesByTheFactor) {
    const RopeSpec spec{.rotaryDim = 64, .scaling = Scaling::kLinear, .factor = 8};
    expectTable(spec, 8192, 1, [&](std::size_t i) { return plain(spec, 10000, i) / 8; });
}

TEST(Rope, DynamicNtkStretchesThetaOnlyBeyondTheOriginalContext) {
    const RopeSpec spec{
        .rotaryDim = 64, .scaling = Scaling::kDynamicNtk, .factor = 4, .originalContext = 2048};
    expectTable(spec, 2048, 1, [&](std::size_t i) { return plain(spec, 10000, i); });
    const double stretched = 10000 * std::pow(4.0 * 8192 / 2048 - 3, 64.0 / 62);
    expectTable(spec, 8192, 1, [&](std::size_t i) { return plain(spec, stretched, i); });
}

TEST(Rope, Llama3KeepsShortWavesAndDividesLongOnes) {
    const RopeSpec spec{.rotaryDim = 128,
                        .theta = 500000,
                        .scaling = Scaling::kLlama3,
                        .factor = 8,
                        .originalContext = 8192};
    expectTable(spec, 131072, 1, [&](std::size_t i) { return llama3(spec, i); });
}

TEST(Rope, YarnRampsBetweenItsCorrectionDimensions) {
    RopeSpec spec{.rotaryDim = 64,
                  .theta = 150000,
                  .scaling = Scaling::kYarn,
                  .factor = 32,
                  .originalContext = 4096};
    const double magnitude = 0.1 * std::log(32.0) + 1;
    expectTable(spec, 131072, magnitude, [&](std::size_t i) { return yarn(spec, i); });
    spec.yarnTruncate = false;
    expectTable(spec, 131072, magnitude, [&](std::size_t i) { return yarn(spec, i); });
}

TEST(Rope, YarnMagnitudeFollowsMscaleOrTheFile) {
    RopeSpec spec{.rotaryDim = 64,
                  .scaling = Scaling::kYarn,
                  .factor = 40,
                  .originalContext = 4096,
                  .mscale = 0.707,
                  .mscaleAllDim = 1.0};
    const auto mscale = [](double m) { return 0.1 * m * std::log(40.0) + 1; };
    EXPECT_NEAR(ropeTable(spec, 0)->magnitude, mscale(0.707) / mscale(1), 1e-6);
    spec.attentionFactor = 1.25;
    EXPECT_EQ(ropeTable(spec, 0)->magnitude, 1.25F);
}

TEST(Rope, LongRopeChoosesItsListByTheContextServed) {
    const RopeSpec spec{.rotaryDim = 4,
                        .scaling = Scaling::kLongRope,
                        .factor = 32,
                        .originalContext = 4096,
                        .factors = {1.0, 1.5},
                        .longFactors = {2.0, 64.0}};
    const double magnitude = std::sqrt(1 + std::log(32.0) / std::log(4096.0));
    expectTable(spec, 4096, magnitude,
                [&](std::size_t i) { return plain(spec, 10000, i) / spec.factors[i]; });
    expectTable(spec, 4097, magnitude,
                [&](std::size_t i) { return plain(spec, 10000, i) / spec.longFactors[i]; });
}

TEST(Rope, ContextsThatSuitATextsLength) {
    ModelSpec spec{.contextTokens = 4096, .ropes = {{.rotaryDim = 4}}};
    EXPECT_EQ(ropeContext(spec, 7), 4096);
    EXPECT_EQ(mostTokens(spec), 4096);
    spec.ropes[0] = {.scaling = Scaling::kLongRope, .originalContext = 64};
    EXPECT_EQ(ropeContext(spec, 64), 64);
    EXPECT_EQ(ropeContext(spec, 65), 4096);
    spec.ropes[0] = {.scaling = Scaling::kDynamicNtk, .factor = 4, .originalContext = 4096};
    EXPECT_EQ(ropeContext(spec, 7), 4096);
    EXPECT_EQ(ropeContext(spec, 5000), 5000);
    EXPECT_EQ(mostTokens(spec), 16384);
}

TEST(Rope, FactorsOfAFileDivide) {
    const RopeSpec spec{.rotaryDim = 4, .factors = {1.0, 8.0}};
    expectTable(spec, 0, 1, [&](std::size_t i) { return plain(spec, 10000, i) / spec.factors[i]; });
}

TEST(Rope, RefusesWhatMakesNoSense) {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<RopeSpec> wrong = {
        {.rotaryDim = 0},
        {.rotaryDim = 7},
        {.rotaryDim = std::int64_t{1} << 40},
        {.rotaryDim = 8, .theta = 0},
        {.rotaryDim = 8, .theta = infinity},
        {.rotaryDim = 8, .theta = std::nan("")},
        {.rotaryDim = 8, .scaling = Scaling::kLinear, .factor = 0},
        {.rotaryDim = 8, .scaling = Scaling::kYarn, .factor = 4},
        {.rotaryDim = 8, .theta = 1, .scaling = Scaling::kYarn, .factor = 4, .originalContext = 64},
        {.rotaryDim = 8, .factors = {1, 2, 3}},
        {.rotaryDim = 4, .factors = {1, 0}},
        {.rotaryDim = 4, .scaling = Scaling::kLongRope, .factor = 4, .originalContext = 64},
        {.rotaryDim = 4,
         .scaling = Scaling::kLongRope,
         .factor = 4,
         .originalContext = 1,
         .factors = {1, 1}},
        {.rotaryDim = 4,
         .scaling = Scaling::kLlama3,
         .factor = 8,
         .originalContext = 64,
         .lowFreqFactor = 4,
         .highFreqFactor = 4},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        const auto table = ropeTable(wrong[i], 4096);
        ASSERT_FALSE(table.has_value()) << "case " << i;
        EXPECT_EQ(table.error().code, ErrorCode::kCorrupt);
        EXPECT_EQ(table.error().message.rfind("rope: ", 0), 0U) << table.error().message;
    }
}

}  // namespace
}  // namespace quern::engine
