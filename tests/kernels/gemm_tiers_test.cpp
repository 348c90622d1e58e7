// Tiers agree to the bit wherever they add in the same order: all vector tiers with each other, and
// with the generic tier for formats that have one scale a block. A wrong lane, shift or offset in
// one tier cannot hide behind a tolerance.

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/quant.h"
#include "tests/kernels/gemm_cases.h"

namespace quern::kernels::test {
namespace {

using cpu::WeightMemory;

constexpr std::int64_t kRows = 15;
constexpr std::int64_t kOutputs = 43;
constexpr std::int64_t kCols = 768;

bool hasOneScaleABlock(DType type) {
    switch (type) {
        case DType::kQ4_0:
        case DType::kQ4_1:
        case DType::kQ4_K:
        case DType::kQ5_0:
        case DType::kQ5_1:
        case DType::kQ5_K:
        case DType::kQ8_0:
            return true;
        default:
            return false;
    }
}

std::vector<float> product(CpuTier tier, DType type, const std::vector<std::byte>& bytes,
                           const std::vector<float>& in, ActivationType activations) {
    const cpu::GemmKernels& kernels = cpu::gemmKernels(tier);
    WeightMemory memory;
    const TensorView view{
        .type = type, .shape = {.dims = {kOutputs, kCols, 1, 1}, .rank = 2}, .data = bytes.data()};
    const auto weight = kernels.pack(view, activations, memory, {});
    EXPECT_TRUE(weight.has_value());
    std::vector<float> out(static_cast<std::size_t>(kRows * kOutputs));
    if ((*weight)->takesQ8()) {
        const QuantizedRows rows = quantizeRows(kernels, in, kRows, kCols);
        (*weight)->multiply(rows.rows, 0, kOutputs, out.data(), kOutputs);
    } else {
        (*weight)->multiplyF32(in.data(), kRows, kCols, 0, kOutputs, out.data(), kOutputs);
    }
    return out;
}

class GemmTiers : public testing::TestWithParam<DType> {};

TEST_P(GemmTiers, AgreeToTheBit) {
    std::mt19937 random(5);
    const DType type = GetParam();
    const auto bytes = randomWeight(type, kOutputs, kCols, random);
    const auto in = randomFloats(static_cast<std::size_t>(kRows * kCols), random);
    for (const ActivationType activations : {ActivationType::kQ8, ActivationType::kF32}) {
        const Tier* reference = nullptr;
        const std::vector<Tier> tiers = gemmTiers();
        for (const Tier& tier : tiers) {
            const bool isComparable =
                tier.tier != CpuTier::kGeneric ||
                (activations == ActivationType::kQ8 && hasOneScaleABlock(type));
            if (!tier.lacks.empty() || !isComparable) {
                continue;
            }
            if (reference == nullptr) {
                reference = &tier;
                continue;
            }
            const auto right = product(reference->tier, type, bytes, in, activations);
            const auto actual = product(tier.tier, type, bytes, in, activations);
            EXPECT_EQ(std::memcmp(right.data(), actual.data(), right.size() * sizeof(float)), 0)
                << tier.name << " differs from " << reference->name;
        }
    }
}

std::string typeName(const testing::TestParamInfo<DType>& info) {
    return std::string(traits(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(All, GemmTiers, testing::ValuesIn(weightTypes()), typeName);

TEST(GemmTiersQuantizeRow, IsTheSameEverywhere) {
    std::mt19937 random(6);
    auto in = randomFloats(static_cast<std::size_t>(kRows * kCols), random);
    in[3] = 1e30F;
    in[64] = 0x1p-120F;
    for (std::size_t i = 128; i < 160; ++i) {
        in[i] = 0.0F;
    }
    const QuantizedRows right = quantizeRows(cpu::gemmKernels(CpuTier::kGeneric), in, kRows, kCols);
    for (const Tier& tier : gemmTiers()) {
        if (!tier.lacks.empty()) {
            continue;
        }
        const QuantizedRows actual = quantizeRows(cpu::gemmKernels(tier.tier), in, kRows, kCols);
        EXPECT_EQ(std::memcmp(right.rows.blocks, actual.rows.blocks,
                              static_cast<std::size_t>(cpu::Q8Rows::bytes(kRows, kCols))),
                  0)
            << tier.name;
    }
}

}  // namespace
}  // namespace quern::kernels::test
