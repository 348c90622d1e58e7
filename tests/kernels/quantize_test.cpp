#include "kernels/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/quant.h"
#include "kernels/quant/encode.h"
#include "kernels/quant/half.h"
#include "tests/support/golden.h"

namespace quern::kernels {
namespace {

std::vector<float> readFloats(const std::filesystem::path& path) {
    const std::string bytes = test::readFile(path);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

std::vector<std::byte> quantized(DType type, std::span<const float> values) {
    std::vector<std::byte> blocks(
        static_cast<std::size_t>(rowBytes(type, static_cast<std::int64_t>(values.size())).value()));
    const Status done = quantize(type, values, blocks);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return blocks;
}

std::vector<float> roundTrip(DType type, std::span<const float> values) {
    std::vector<float> out(values.size());
    EXPECT_TRUE(dequantize(type, quantized(type, values), out).has_value());
    return out;
}

// Root mean square of the error, over that of the values.
double relativeError(DType type, std::span<const float> values) {
    const std::vector<float> out = roundTrip(type, values);
    double error = 0;
    double power = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double difference = static_cast<double>(out[i]) - static_cast<double>(values[i]);
        error += difference * difference;
        power += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    return std::sqrt(error / power);
}

TEST(Quantize, SimpleTypesGiveTheReferencesBytes) {
    const auto folder = test::dataDir() / "quantize";
    const std::vector<float> values = readFloats(folder / "values.f32");
    ASSERT_EQ(values.size(), 11U * 256U);
    for (const char* name : {"F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"}) {
        SCOPED_TRACE(name);
        const DType type = dtypeFromName(name).value();
        const std::string right = test::readFile(folder / (std::string(name) + ".bin"));
        const std::vector<std::byte> ours = quantized(type, values);
        ASSERT_EQ(ours.size(), right.size());
        const auto block = static_cast<std::size_t>(traits(type).blockBytes);
        for (std::size_t at = 0; at < ours.size(); at += block) {
            ASSERT_EQ(std::memcmp(ours.data() + at, right.data() + at, block), 0)
                << "block " << at / block;
        }
    }
}

// Bounds: the error of GGML's own search on values of this kind (measured: Q4_K 0.0719, Q5_K
// 0.0363), and for Q6_K half of Q5_K's.
TEST(Quantize, KTypesKeepTheErrorSmall) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0F, 0.05F);
    std::vector<float> values(256 * 256);
    for (float& value : values) {
        value = normal(random);
    }
    EXPECT_LT(relativeError(DType::kQ4_K, values), 0.0708);
    EXPECT_LT(relativeError(DType::kQ5_K, values), 0.0362);
    EXPECT_LT(relativeError(DType::kQ6_K, values), 0.0181);
    // Each must be worth its bits: better than the plain format of as many.
    EXPECT_LT(relativeError(DType::kQ4_K, values), relativeError(DType::kQ4_1, values));
    EXPECT_LT(relativeError(DType::kQ5_K, values), relativeError(DType::kQ5_1, values));
    EXPECT_LT(relativeError(DType::kQ6_K, values), relativeError(DType::kQ5_K, values) * 0.6);
}

// What a file holds does not depend on the machine that wrote it.
TEST(Quantize, EveryTierWritesTheSameBytes) {
    const std::vector<float> values = readFloats(test::dataDir() / "quantize" / "values.f32");
    const auto written = [&](encode::BlockWriter writer, std::size_t blockBytes) {
        std::vector<std::byte> blocks(values.size() / 256 * blockBytes);
        for (std::size_t at = 0; at < values.size() / 256; ++at) {
            writer(values.data() + at * 256, blocks.data() + at * blockBytes);
        }
        return blocks;
    };
    const encode::KWriters& right = encode::generic::kWriters();
    const encode::KWriters& chosen = encode::kWriters();
    EXPECT_TRUE(written(right.q4K, 144) == written(chosen.q4K, 144));
    EXPECT_TRUE(written(right.q5K, 176) == written(chosen.q5K, 176));
    EXPECT_TRUE(written(right.q6K, 210) == written(chosen.q6K, 210));
    if (!cpu::hasTier(CpuTier::kAvx2)) {
        GTEST_SKIP() << "this processor has no AVX2: one tier was compared with itself";
    }
}

TEST(Quantize, KTypesTakeAnyShapeOfValues) {
    const std::vector<float> values = readFloats(test::dataDir() / "quantize" / "values.f32");
    for (const DType type : {DType::kQ4_K, DType::kQ5_K, DType::kQ6_K}) {
        for (std::size_t row = 0; row < values.size() / 256; ++row) {
            const auto from = std::span(values).subspan(row * 256, 256);
            const std::vector<float> out = roundTrip(type, from);
            float most = 0.0F;
            for (const float value : from) {
                most = std::max(most, std::fabs(value));
            }
            for (std::size_t i = 0; i < out.size(); ++i) {
                ASSERT_LE(std::fabs(out[i] - from[i]), 0.14F * most)
                    << traits(type).name << " row " << row << " element " << i;
            }
        }
    }
}

// What a K format holds exactly comes back as it was.
TEST(Quantize, KTypesFindValuesOfTheirOwnGrid) {
    std::vector<float> values(256);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.25F * static_cast<float>(i % 16) - 1.0F;
    }
    const std::vector<float> out = roundTrip(DType::kQ4_K, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(out[i], values[i], 0.002F) << i;
    }
}

TEST(Quantize, HalvesRoundToEven) {
    EXPECT_EQ(floatToHalf(1.0F), 0x3C00);
    EXPECT_EQ(floatToHalf(-2.0F), 0xC000);
    EXPECT_EQ(floatToHalf(65504.0F), 0x7BFF);
    EXPECT_EQ(floatToHalf(65519.996F), 0x7BFF);
    EXPECT_EQ(floatToHalf(65520.0F), 0x7C00);
    EXPECT_EQ(floatToHalf(0x1p-24F), 0x0001);
    EXPECT_EQ(floatToHalf(0x1p-25F), 0x0000);
    EXPECT_EQ(floatToHalf(0x1.8p-24F), 0x0002);
    EXPECT_EQ(floatToHalf(0x1.ff8p-15F), 0x03FF);
    EXPECT_EQ(floatToHalf(0x1.ffcp-15F), 0x0400);
    EXPECT_EQ(floatToHalf(1.0F + 0x1p-11F), 0x3C00);
    EXPECT_EQ(floatToHalf(1.0F + 0x1.8p-10F), 0x3C02);
    EXPECT_EQ(floatToHalf(-std::numeric_limits<float>::infinity()), 0xFC00);
    EXPECT_NE(floatToHalf(std::numeric_limits<float>::quiet_NaN()) & 0x3FF, 0);
    EXPECT_EQ(floatToBf16(1.0F + 0x1p-8F), 0x3F80);
    EXPECT_EQ(floatToBf16(1.0F + 0x1.8p-7F), 0x3F82);
    for (std::uint32_t half = 0; half < 0x10000; ++half) {
        const auto bits = static_cast<std::uint16_t>(half);
        const float value = halfToFloat(bits);
        if (!std::isnan(value)) {
            ASSERT_EQ(floatToHalf(value), bits);
        }
    }
}

TEST(Quantize, RefusesWhatATypeCannotHold) {
    std::vector<float> values(256, 1.0F);
    std::vector<std::byte> blocks(1024);
    const auto into = [&](DType type, std::size_t bytes) {
        return quantize(type, values, std::span(blocks).first(bytes));
    };
    EXPECT_TRUE(into(DType::kQ4_K, 144).has_value());
    EXPECT_EQ(into(DType::kQ4_K, 145).error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(into(DType::kIQ2_XS, 74).error().code, ErrorCode::kUnsupported);
    EXPECT_FALSE(canQuantize(DType::kIQ2_XS));
    values[200] = std::numeric_limits<float>::quiet_NaN();
    const auto refused = into(DType::kQ8_0, 272);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("200"), std::string::npos) << refused.error().message;
    values[200] = 1e6F;
    EXPECT_FALSE(into(DType::kQ6_K, 210).has_value());
    EXPECT_TRUE(into(DType::kBF16, 512).has_value());
}

}  // namespace
}  // namespace quern::kernels
