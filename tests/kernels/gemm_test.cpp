#include "kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "kernels/quant.h"
#include "tests/kernels/gemm_cases.h"

namespace quern::kernels::test {
namespace {

using cpu::GemmKernels;
using cpu::PackedWeight;
using cpu::WeightMemory;

constexpr float kUntouched = -12345.0F;
constexpr std::int64_t kMostRows = 100;

/// The inputs widths to try: whole blocks, and odd numbers where a block is one element.
std::vector<std::int64_t> widths(DType type) {
    switch (traits(type).blockElements) {
        case 1:
            return {1, 3, 17, 64, 577};
        case 32:
            return {32, 96, 576, 640};
        case 64:
            return {64, 192, 576};
        default:
            return {256, 768, 2048};
    }
}

using Param = std::tuple<Tier, DType>;

class Gemm : public testing::TestWithParam<Param> {
protected:
    void SetUp() override {
        const Tier& tier = std::get<0>(GetParam());
        if (!tier.lacks.empty()) {
            GTEST_SKIP() << "tier " << tier.name << " skipped: no " << tier.lacks;
        }
        m_kernels = &cpu::gemmKernels(tier.tier);
    }
    [[nodiscard]] DType type() const { return std::get<1>(GetParam()); }
    [[nodiscard]] std::unique_ptr<PackedWeight> pack(const std::vector<std::byte>& bytes,
                                                     std::int64_t outputs, std::int64_t inputs,
                                                     ActivationType activations) {
        const TensorView view{.type = type(),
                              .shape = {.dims = {outputs, inputs, 1, 1}, .rank = 2},
                              .data = bytes.data()};
        auto packed = m_kernels->pack(view, activations, m_memory, {});
        EXPECT_TRUE(packed.has_value()) << packed.error().message;
        return packed ? std::move(*packed) : nullptr;
    }

    const GemmKernels* m_kernels = nullptr;
    WeightMemory m_memory;
    std::mt19937 m_random{20260101};
};

std::vector<float> dequantized(DType type, const std::vector<std::byte>& bytes,
                               std::size_t elements) {
    std::vector<float> out(elements);
    const Status done = dequantize(type, bytes, out);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return out;
}

/// A product to compare with, and the sum of magnitudes that rounding errors scale with.
struct Exact {
    double value = 0.0;
    double magnitude = 0.0;
};

Exact dot(const float* weight, const std::vector<float>& in, std::int64_t row, std::int64_t cols) {
    Exact exact;
    for (std::int64_t i = 0; i < cols; ++i) {
        const double term = static_cast<double>(weight[i]) *
                            static_cast<double>(in[static_cast<std::size_t>(row * cols + i)]);
        exact.value += term;
        exact.magnitude += std::abs(term);
    }
    return exact;
}

/// What the rows stand for after quantization.
std::vector<float> representedBy(const cpu::Q8Rows& rows) {
    std::vector<float> out(static_cast<std::size_t>(rows.rows * rows.cols));
    for (std::size_t i = 0; i < out.size(); ++i) {
        const cpu::Q8Block& block = rows.blocks[i / 32];
        out[i] = static_cast<float>(block.values[i % 32]) * block.scale;
    }
    return out;
}

void expectClose(DType type, const std::vector<std::byte>& bytes, const std::vector<float>& in,
                 const std::vector<float>& out, std::int64_t outputs, std::int64_t cols) {
    const auto weight = dequantized(type, bytes, static_cast<std::size_t>(outputs * cols));
    for (std::int64_t row = 0; row < kMostRows; ++row) {
        for (std::int64_t o = 0; o < outputs; ++o) {
            const Exact exact = dot(weight.data() + o * cols, in, row, cols);
            ASSERT_NEAR(out[static_cast<std::size_t>(row * outputs + o)], exact.value,
                        2e-6 * exact.magnitude + 1e-30)
                << "row " << row << " output " << o << " of " << outputs << " × " << cols;
        }
    }
}

/// Runs `multiply(rows, begin, end, out, stride)` for many counts of rows and ranges and demands
/// the bits of `whole` ([kMostRows, outputs]) and nothing written elsewhere.
template <class Multiply>
void expectSameBits(const PackedWeight& weight, const std::vector<float>& whole,
                    Multiply multiply) {
    const std::int64_t outputs = weight.outputs();
    const std::int64_t panel = weight.panelOutputs();
    const std::int64_t stride = outputs + 5;
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 100}) {
        const std::vector<std::pair<std::int64_t, std::int64_t>> ranges{
            {0, outputs},
            {0, std::min(outputs, panel)},
            {outputs / panel / 2 * panel, outputs},
            {0, (outputs + 1) / 2},
            {outputs / panel * panel, outputs},
        };
        for (const auto& [begin, end] : ranges) {
            std::vector<float> out(static_cast<std::size_t>(rows * stride), kUntouched);
            multiply(rows, begin, end, out.data(), stride);
            for (std::int64_t row = 0; row < rows; ++row) {
                for (std::int64_t o = 0; o < stride; ++o) {
                    const float actual = out[static_cast<std::size_t>(row * stride + o)];
                    const bool isInside = o >= begin && o < end;
                    const float right =
                        isInside ? whole[static_cast<std::size_t>(row * outputs + o)] : kUntouched;
                    ASSERT_EQ(std::memcmp(&actual, &right, sizeof right), 0)
                        << actual << " is not " << right << ": row " << row << " of " << rows
                        << ", output " << o << " in [" << begin << ", " << end << ") of " << outputs
                        << " × " << weight.inputs();
                }
            }
        }
    }
}

TEST_P(Gemm, Q8EqualsOracleInEveryTiling) {
    if (!traits(type()).isQuantized) {
        return;
    }
    for (const std::int64_t cols : widths(type())) {
        const auto in = randomFloats(static_cast<std::size_t>(kMostRows * cols), m_random);
        const QuantizedRows quantized = quantizeRows(*m_kernels, in, kMostRows, cols);
        for (const std::int64_t outputs : {1, 3, 8, 17, 40}) {
            const auto bytes = randomWeight(type(), outputs, cols, m_random);
            const auto weight = pack(bytes, outputs, cols, ActivationType::kQ8);
            ASSERT_NE(weight, nullptr);
            ASSERT_TRUE(weight->takesQ8());
            std::vector<float> whole(static_cast<std::size_t>(kMostRows * outputs), kUntouched);
            weight->multiply(quantized.rows, 0, outputs, whole.data(), outputs);
            expectClose(type(), bytes, representedBy(quantized.rows), whole, outputs, cols);
            expectSameBits(*weight, whole,
                           [&](std::int64_t rows, std::int64_t begin, std::int64_t end, float* out,
                               std::int64_t stride) {
                               cpu::Q8Rows some = quantized.rows;
                               some.rows = rows;
                               weight->multiply(some, begin, end, out, stride);
                           });
        }
    }
}

TEST_P(Gemm, F32EqualsOracleInEveryTiling) {
    for (const std::int64_t cols : widths(type())) {
        const auto in = randomFloats(static_cast<std::size_t>(kMostRows * cols), m_random);
        for (const std::int64_t outputs : {1, 3, 8, 17}) {
            const auto bytes = randomWeight(type(), outputs, cols, m_random);
            const auto weight = pack(bytes, outputs, cols, ActivationType::kF32);
            ASSERT_NE(weight, nullptr);
            ASSERT_FALSE(weight->takesQ8());
            std::vector<float> whole(static_cast<std::size_t>(kMostRows * outputs), kUntouched);
            weight->multiplyF32(in.data(), kMostRows, cols, 0, outputs, whole.data(), outputs);
            expectClose(type(), bytes, in, whole, outputs, cols);
            expectSameBits(*weight, whole,
                           [&](std::int64_t rows, std::int64_t begin, std::int64_t end, float* out,
                               std::int64_t stride) {
                               weight->multiplyF32(in.data(), rows, cols, begin, end, out, stride);
                           });
        }
    }
}

TEST_P(Gemm, UnpackedRowEqualsDequantize) {
    const std::int64_t cols = widths(type()).back();
    const std::int64_t outputs = 19;
    const auto bytes = randomWeight(type(), outputs, cols, m_random);
    const auto right = dequantized(type(), bytes, static_cast<std::size_t>(outputs * cols));
    for (const ActivationType activations : {ActivationType::kQ8, ActivationType::kF32}) {
        const auto weight = pack(bytes, outputs, cols, activations);
        ASSERT_NE(weight, nullptr);
        EXPECT_EQ(weight->outputs(), outputs);
        EXPECT_EQ(weight->inputs(), cols);
        EXPECT_EQ(weight->takesQ8(),
                  traits(type()).isQuantized && activations == ActivationType::kQ8);
        std::vector<float> row(static_cast<std::size_t>(cols));
        for (std::int64_t o = 0; o < outputs; ++o) {
            weight->unpackRow(o, row.data());
            for (std::size_t i = 0; i < row.size(); ++i) {
                ASSERT_EQ(row[i], right[static_cast<std::size_t>(o * cols) + i])
                    << "output " << o << " column " << i;
            }
        }
    }
}

TEST_P(Gemm, PackRefusesWrongShapes) {
    const auto bytes = randomWeight(type(), 2, widths(type()).front(), m_random);
    const auto refused = [&](std::int64_t outputs, std::int64_t inputs, int rank) {
        const TensorView view{.type = type(),
                              .shape = {.dims = {outputs, inputs, 1, 1}, .rank = rank},
                              .data = bytes.data()};
        const auto packed = m_kernels->pack(view, ActivationType::kQ8, m_memory, {});
        return !packed.has_value() && packed.error().code == ErrorCode::kInvalidArgument;
    };
    EXPECT_TRUE(refused(0, 256, 2));
    EXPECT_TRUE(refused(1, 0, 2));
    EXPECT_TRUE(refused(-1, 256, 2));
    EXPECT_TRUE(refused(1, 256, 1));
    EXPECT_TRUE(refused(std::int64_t{1} << 40, std::int64_t{1} << 40, 2));
    if (traits(type()).blockElements > 1) {
        EXPECT_TRUE(refused(1, traits(type()).blockElements + 1, 2));
    }
}

TEST_P(Gemm, PackSaysWhatDoesNotFit) {
    const auto bytes = randomWeight(type(), 1, widths(type()).back(), m_random);
    const TensorView view{
        .type = type(),
        .shape = {.dims = {std::int64_t{1} << 44, widths(type()).back(), 1, 1}, .rank = 2},
        .data = bytes.data()};
    for (const ActivationType activations : {ActivationType::kQ8, ActivationType::kF32}) {
        const auto packed = m_kernels->pack(view, activations, m_memory, {});
        ASSERT_FALSE(packed.has_value());
        EXPECT_EQ(packed.error().code, ErrorCode::kOutOfMemory) << packed.error().message;
    }
}

TEST_P(Gemm, PackTellsOfSlicesAndStops) {
    const std::int64_t cols = widths(type()).back();
    const auto rowSize = rowBytes(type(), cols);
    ASSERT_TRUE(rowSize.has_value());
    const std::int64_t outputs = 5 * cpu::kPackSlice / *rowSize / 2;
    const std::vector<std::byte> bytes(static_cast<std::size_t>(outputs * *rowSize));
    const TensorView view{
        .type = type(), .shape = {.dims = {outputs, cols, 1, 1}, .rank = 2}, .data = bytes.data()};
    std::vector<std::int64_t> told;
    const auto packed =
        m_kernels->pack(view, ActivationType::kQ8, m_memory, [&](std::int64_t rows) {
            told.push_back(rows);
            return told.size() < 2;
        });
    ASSERT_FALSE(packed.has_value());
    EXPECT_EQ(packed.error().code, ErrorCode::kCancelled);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_LE(told[0] * *rowSize, cpu::kPackSlice);
    EXPECT_EQ(told[1], 2 * told[0]);
}

std::string paramName(const testing::TestParamInfo<Param>& info) {
    return std::get<0>(info.param).name + "_" + std::string(traits(std::get<1>(info.param)).name);
}

INSTANTIATE_TEST_SUITE_P(All, Gemm,
                         testing::Combine(testing::ValuesIn(gemmTiers()),
                                          testing::ValuesIn(weightTypes())),
                         paramName);

}  // namespace
}  // namespace quern::kernels::test
