#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/gemm_cases.h"

namespace quern::kernels::test {
namespace {

class QuantizeRow : public testing::TestWithParam<Tier> {
protected:
    void SetUp() override {
        if (!GetParam().lacks.empty()) {
            GTEST_SKIP() << "tier " << GetParam().name << " skipped: no " << GetParam().lacks;
        }
        m_kernels = &cpu::gemmKernels(GetParam().tier);
    }
    [[nodiscard]] QuantizedRows quantizeOne(const std::vector<float>& in) const {
        return quantizeRows(*m_kernels, in, 1, static_cast<std::int64_t>(in.size()));
    }

    const cpu::GemmKernels* m_kernels = nullptr;
};

TEST_P(QuantizeRow, IsAsCloseAsTheScaleAllows) {
    std::mt19937 random(7);
    const std::int64_t rows = 5;
    const std::int64_t cols = 96;
    for (const float factor : {1.0F, 1e-20F, 1e30F}) {
        auto in = randomFloats(static_cast<std::size_t>(rows * cols), random);
        for (float& value : in) {
            value *= factor;
        }
        const QuantizedRows made = quantizeRows(*m_kernels, in, rows, cols);
        for (std::int64_t block = 0; block < rows * cols / 32; ++block) {
            const cpu::Q8Block& actual = made.rows.blocks[block];
            const float d = actual.scale;
            float largest = 0.0F;
            int sums[2] = {0, 0};
            for (std::int64_t i = 0; i < 32; ++i) {
                const float x = in[static_cast<std::size_t>(block * 32 + i)];
                const int q = actual.values[static_cast<std::size_t>(i)];
                largest = std::max(largest, std::abs(x));
                EXPECT_LE(std::abs(q), 127);
                EXPECT_NEAR(static_cast<float>(q) * d, x, 0.5001F * d);
                sums[i / 16] += q;
            }
            EXPECT_FLOAT_EQ(d, largest / 127.0F);
            EXPECT_FLOAT_EQ(actual.scaledSum, d * static_cast<float>(sums[0] + sums[1]));
            EXPECT_EQ(actual.halfSums[0], sums[0]);
            EXPECT_EQ(actual.halfSums[1], sums[1]);
        }
    }
}

TEST_P(QuantizeRow, RoundsHalfToEven) {
    std::vector<float> in(32, 0.0F);
    in[0] = 127.0F;
    in[1] = 0.5F;
    in[2] = 1.5F;
    in[3] = -2.5F;
    in[4] = -127.0F;
    const QuantizedRows made = quantizeOne(in);
    EXPECT_EQ(made.rows.blocks[0].scale, 1.0F);
    EXPECT_EQ(made.rows.blocks[0].values[0], 127);
    EXPECT_EQ(made.rows.blocks[0].values[1], 0);
    EXPECT_EQ(made.rows.blocks[0].values[2], 2);
    EXPECT_EQ(made.rows.blocks[0].values[3], -2);
    EXPECT_EQ(made.rows.blocks[0].values[4], -127);
}

TEST_P(QuantizeRow, SmallestBlocksAreZero) {
    for (const float tiny : {0.0F, -0.0F, std::numeric_limits<float>::denorm_min(), 0x1p-101F}) {
        const QuantizedRows made = quantizeOne(std::vector<float>(32, tiny));
        EXPECT_EQ(made.rows.blocks[0].scale, 0.0F);
        EXPECT_EQ(made.rows.blocks[0].scaledSum, 0.0F);
        for (const std::int8_t q : made.rows.blocks[0].values) {
            EXPECT_EQ(q, 0);
        }
    }
    EXPECT_EQ(quantizeOne(std::vector<float>(32, 0x1p-100F)).rows.blocks[0].values[0], 127);
}

TEST_P(QuantizeRow, LargestValuesKeepTheirSign) {
    std::vector<float> in(32, std::numeric_limits<float>::max());
    in[7] = -std::numeric_limits<float>::max();
    const QuantizedRows made = quantizeOne(in);
    EXPECT_EQ(made.rows.blocks[0].values[0], 127);
    EXPECT_EQ(made.rows.blocks[0].values[7], -127);
    EXPECT_TRUE(std::isfinite(made.rows.blocks[0].scale));
}

TEST_P(QuantizeRow, WhatIsNotFiniteStaysVisibleInItsBlockAlone) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
        for (const std::size_t at : {32U, 39U, 40U, 63U}) {
            std::vector<float> in(96, 1.0F);
            in[at] = bad;
            const QuantizedRows made = quantizeOne(in);
            EXPECT_EQ(made.rows.blocks[0].values[0], 127);
            EXPECT_EQ(made.rows.blocks[2].values[31], 127);
            EXPECT_TRUE(std::isnan(made.rows.blocks[1].scale));
            EXPECT_TRUE(std::isnan(made.rows.blocks[1].scaledSum));
            EXPECT_EQ(made.rows.blocks[1].halfSums[0], 0);
            for (const std::int8_t q : made.rows.blocks[1].values) {
                EXPECT_EQ(q, 0);
            }
        }
    }
}

std::string tierParamName(const testing::TestParamInfo<Tier>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, QuantizeRow, testing::ValuesIn(gemmTiers()), tierParamName);

}  // namespace
}  // namespace quern::kernels::test
