#include "tests/kernels/gemm_cases.h"

#include <bit>
#include <cstring>

#include "kernels/cpu/isa.h"
#include "kernels/quant.h"

namespace quern::kernels::test {

namespace {

/// Where the binary16 scales of a block stand.
std::vector<std::size_t> halfOffsets(DType type) {
    switch (type) {
        case DType::kQ4_1:
        case DType::kQ5_1:
        case DType::kQ4_K:
        case DType::kQ5_K:
            return {0, 2};
        case DType::kQ2_K:
            return {80, 82};
        case DType::kQ3_K:
            return {108};
        case DType::kQ6_K:
            return {208};
        case DType::kTQ1_0:
            return {52};
        case DType::kTQ2_0:
            return {64};
        case DType::kMXFP4:
        case DType::kNVFP4:
        case DType::kIQ1_M:
            return {};
        default:
            return {0};
    }
}

void setByte(std::byte* at, unsigned value) {
    *at = static_cast<std::byte>(value);
}

void tameScales(DType type, std::byte* block, std::mt19937& random) {
    // Positive and negative binary16 numbers between 2⁻⁶ and 2⁻³.
    const auto half = [&] {
        return static_cast<std::uint16_t>(0x2400U + random() % 0xC00U + 0x8000U * (random() % 2));
    };
    for (const std::size_t offset : halfOffsets(type)) {
        const std::uint16_t value = half();
        std::memcpy(block + offset, &value, sizeof value);
    }
    if (type == DType::kMXFP4) {
        setByte(block, static_cast<unsigned>(122U + random() % 4));
    }
    if (type == DType::kNVFP4) {
        for (std::size_t i = 0; i < 4; ++i) {
            setByte(block + i, static_cast<unsigned>(random() % 0x48U));
        }
    }
    if (type == DType::kIQ1_M) {
        // The scale's four nibbles are the top ones of the last four 16-bit words.
        const std::uint16_t value = half();
        for (std::size_t i = 0; i < 4; ++i) {
            std::byte* top = block + 48 + 2 * i + 1;
            const unsigned nibble = (static_cast<unsigned>(value) >> (4 * i)) & 15U;
            setByte(top, (std::to_integer<unsigned>(*top) & 15U) | (nibble << 4));
        }
    }
}

}  // namespace

const std::vector<DType>& weightTypes() {
    static const std::vector<DType> kTypes{
        DType::kF32,    DType::kF16,     DType::kBF16,  DType::kQ8_0,    DType::kQ4_0,
        DType::kQ4_1,   DType::kQ5_0,    DType::kQ5_1,  DType::kQ4_K,    DType::kQ5_K,
        DType::kQ6_K,   DType::kQ2_K,    DType::kQ3_K,  DType::kIQ4_NL,  DType::kIQ4_XS,
        DType::kTQ1_0,  DType::kTQ2_0,   DType::kMXFP4, DType::kNVFP4,   DType::kF8E4M3,
        DType::kF8E5M2, DType::kIQ1_S,   DType::kIQ1_M, DType::kIQ2_XXS, DType::kIQ2_XS,
        DType::kIQ2_S,  DType::kIQ3_XXS, DType::kIQ3_S};
    return kTypes;
}

std::vector<std::byte> randomWeight(DType type, std::int64_t rows, std::int64_t cols,
                                    std::mt19937& random) {
    const DTypeTraits& t = traits(type);
    const std::int64_t blocks = rows * cols / t.blockElements;
    std::vector<std::byte> bytes(static_cast<std::size_t>(blocks * t.blockBytes));
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    for (std::int64_t i = 0; i < blocks; ++i) {
        std::byte* block = bytes.data() + i * t.blockBytes;
        if (t.isQuantized) {
            tameScales(type, block, random);
        } else if (type == DType::kF32) {
            const float value = uniform(random);
            std::memcpy(block, &value, sizeof value);
        } else if (type == DType::kBF16) {
            const auto bits =
                static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(uniform(random)) >> 16);
            std::memcpy(block, &bits, sizeof bits);
        } else if (type == DType::kF16) {
            const auto bits =
                static_cast<std::uint16_t>(random() % 0x3C00U + 0x8000U * (random() % 2));
            std::memcpy(block, &bits, sizeof bits);
        } else {
            setByte(block, static_cast<unsigned>(random() % 0x3CU + 0x80U * (random() % 2)));
        }
    }
    return bytes;
}

std::vector<float> randomFloats(std::size_t count, std::mt19937& random) {
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<float> out(count);
    for (float& value : out) {
        value = normal(random);
    }
    return out;
}

QuantizedRows quantizeRows(const cpu::GemmKernels& kernels, const std::vector<float>& in,
                           std::int64_t rows, std::int64_t cols) {
    QuantizedRows made;
    made.memory.resize(static_cast<std::size_t>(cpu::Q8Rows::bytes(rows, cols)) + 64);
    const auto misaligned = reinterpret_cast<std::uintptr_t>(made.memory.data()) % 64;
    made.rows = cpu::Q8Rows::place(made.memory.data() + (64 - misaligned) % 64, rows, cols);
    for (std::int64_t row = 0; row < rows; ++row) {
        kernels.quantizeRow(in.data() + row * cols, made.rows, row);
    }
    return made;
}

std::vector<Tier> gemmTiers() {
    std::vector<Tier> tiers;
    for (const CpuTier tier : {CpuTier::kGeneric, CpuTier::kAvx2, CpuTier::kAvx512}) {
        const std::string name(tierName(tier));
        tiers.push_back({tier, name, cpu::hasTier(tier) ? "" : "processor that has it"});
    }
    return tiers;
}

}  // namespace quern::kernels::test
