#include "kernels/quant.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/golden.h"

namespace quern::kernels {
namespace {

TEST(Quant, NamesRoundTrip) {
    for (int i = 0; i <= static_cast<int>(DType::kNVFP4); ++i) {
        const auto type = static_cast<DType>(i);
        const auto found = dtypeFromName(traits(type).name);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(*found, type);
    }
    EXPECT_EQ(dtypeFromName("q4_k").value(), DType::kQ4_K);
    EXPECT_EQ(dtypeFromName("Q9").error().code, ErrorCode::kInvalidArgument);
}

TEST(Quant, RowBytesRefusesBrokenRows) {
    EXPECT_EQ(rowBytes(DType::kQ4_1, 64).value(), 40);
    EXPECT_FALSE(rowBytes(DType::kQ4_1, 33).has_value());
    EXPECT_FALSE(rowBytes(DType::kF32, std::int64_t{1} << 62).has_value());
    EXPECT_FALSE(rowBytes(DType::kF32, -1).has_value());
}

std::vector<float> dequantizeBytes(DType type, const std::string& bytes, std::size_t elements) {
    std::vector<float> out(elements, -7.0F);
    const Status done = dequantize(type, std::as_bytes(std::span(bytes)), out);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return out;
}

TEST(Quant, DequantizeEqualsGolden) {
    QUERN_GOLDEN_OR_SKIP(folder, "quants");
    const auto types = test::readJson(folder / "types.json");
    const auto elements = types["rows"].get<std::size_t>() * types["cols"].get<std::size_t>();
    int checked = 0;
    for (const auto& [name, facts] : types["types"].items()) {
        SCOPED_TRACE(name);
        const auto type = dtypeFromName(name);
        ASSERT_TRUE(type.has_value());
        EXPECT_EQ(traits(*type).blockElements, facts["block"].get<std::int64_t>());
        EXPECT_EQ(traits(*type).blockBytes, facts["bytes"].get<std::int64_t>());
        const std::string bytes = test::readFile(folder / (name + ".bin"));
        const std::string expected = test::readFile(folder / (name + ".f32"));
        ASSERT_EQ(expected.size(), elements * sizeof(float));
        const std::vector<float> actual = dequantizeBytes(*type, bytes, elements);
        for (std::size_t i = 0; i < elements; ++i) {
            float right = 0.0F;
            std::memcpy(&right, expected.data() + i * sizeof right, sizeof right);
            if (!std::isfinite(right)) {
                ASSERT_EQ(std::isnan(right), std::isnan(actual[i])) << "element " << i;
                ASSERT_TRUE(std::isnan(right) || actual[i] == right) << "element " << i;
                continue;
            }
            ASSERT_NEAR(actual[i], right, 1e-6 * std::abs(right)) << "element " << i;
        }
        ++checked;
    }
    EXPECT_EQ(checked, 25);
}

TEST(Quant, DequantizeReadsPlainTypes) {
    const std::string f8("\x00\x01\x38\xC0\x7E\x7F", 6);
    const auto e4m3 = dequantizeBytes(DType::kF8E4M3, f8, 6);
    EXPECT_EQ(e4m3[0], 0.0F);
    EXPECT_EQ(e4m3[1], 0x1p-9F);
    EXPECT_EQ(e4m3[2], 1.0F);
    EXPECT_EQ(e4m3[3], -2.0F);
    EXPECT_EQ(e4m3[4], 448.0F);
    EXPECT_TRUE(std::isnan(e4m3[5]));
    const auto e5m2 = dequantizeBytes(DType::kF8E5M2, std::string("\x01\x3C\xC0\x7B\x7C", 5), 5);
    EXPECT_EQ(e5m2[0], 0x1p-16F);
    EXPECT_EQ(e5m2[1], 1.0F);
    EXPECT_EQ(e5m2[2], -2.0F);
    EXPECT_EQ(e5m2[3], 57344.0F);
    EXPECT_EQ(e5m2[4], std::numeric_limits<float>::infinity());
    const auto f16 =
        dequantizeBytes(DType::kF16, std::string("\x01\x00\x00\xBC\xFF\x7B\x00\xFC", 8), 4);
    EXPECT_EQ(f16[0], 0x1p-24F);
    EXPECT_EQ(f16[1], -1.0F);
    EXPECT_EQ(f16[2], 65504.0F);
    EXPECT_EQ(f16[3], -std::numeric_limits<float>::infinity());
    EXPECT_EQ(dequantizeBytes(DType::kI8, "\x80", 1)[0], -128.0F);
    EXPECT_EQ(dequantizeBytes(DType::kI32, std::string("\xFE\xFF\xFF\xFF", 4), 1)[0], -2.0F);
}

TEST(Quant, DequantizeRefusesWrongSizes) {
    std::array<std::byte, 18> block{};
    std::array<float, 32> out{};
    EXPECT_TRUE(dequantize(DType::kQ4_0, block, out).has_value());
    EXPECT_FALSE(dequantize(DType::kQ4_0, std::span(block).first(17), out).has_value());
    EXPECT_FALSE(dequantize(DType::kQ4_0, block, std::span(out).first(31)).has_value());
    EXPECT_TRUE(dequantize(DType::kQ4_0, {}, {}).has_value());
}

}  // namespace
}  // namespace quern::kernels
