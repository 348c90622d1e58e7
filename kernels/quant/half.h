#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quern::kernels {

/// IEEE 754 binary16 to binary32, exact; NaN payloads are kept.
[[nodiscard]] inline float halfToFloat(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
    const std::uint32_t rest = half & 0x7FFFU;
    if (rest >= 0x7C00U) {
        return std::bit_cast<float>(sign | 0x7F800000U | ((rest & 0x3FFU) << 13));
    }
    if (rest < 0x400U) {
        // Subnormal: rest · 2⁻²⁴ is exact in binary32.
        const float magnitude = static_cast<float>(rest) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    return std::bit_cast<float>(sign | ((rest << 13) + (112U << 23)));
}

/// binary32 to IEEE 754 binary16, to nearest, ties to even; NaN stays NaN.
[[nodiscard]] inline std::uint16_t floatToHalf(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t rest = bits & 0x7FFFFFFFU;
    if (rest > 0x7F800000U) {
        return static_cast<std::uint16_t>(sign | 0x7E00U | ((rest >> 13) & 0x3FFU));
    }
    if (rest >= 0x477FF000U) {  // 65520: the half way to what is too large
        return static_cast<std::uint16_t>(sign | 0x7C00U);
    }
    if (rest < 0x38800000U) {
        // Below 2⁻¹⁴ the last place is 2⁻²⁴, as that of 0.5 in binary32 is: adding rounds.
        const float rounded = std::bit_cast<float>(rest) + 0.5F;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) & 0x7FFU));
    }
    const std::uint32_t odd = (rest >> 13) & 1U;
    return static_cast<std::uint16_t>(sign | ((rest - (112U << 23) + 0xFFFU + odd) >> 13));
}

/// bfloat16 is the upper half of binary32.
[[nodiscard]] inline float bf16ToFloat(std::uint16_t value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

/// binary32 to bfloat16, to nearest, ties to even; NaN stays NaN.
[[nodiscard]] inline std::uint16_t floatToBf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
        return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
    }
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// OCP 8-bit float E4M3 (bias 7, no infinities, S.1111.111 is NaN).
[[nodiscard]] inline float f8E4M3ToFloat(std::uint8_t value) {
    const std::uint32_t sign = static_cast<std::uint32_t>(value & 0x80U) << 24;
    const std::uint32_t rest = value & 0x7FU;
    if (rest == 0x7FU) {
        return std::bit_cast<float>(sign | 0x7FC00000U);
    }
    if (rest < 8U) {
        const float magnitude = static_cast<float>(rest) * 0x1p-9F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    return std::bit_cast<float>(sign | ((rest << 20) + (120U << 23)));
}

/// OCP 8-bit float E5M2 is the upper byte of binary16.
[[nodiscard]] inline float f8E5M2ToFloat(std::uint8_t value) {
    return halfToFloat(static_cast<std::uint16_t>(value << 8));
}

/// Reads a little-endian value at any alignment.
template <class T>
[[nodiscard]] inline T readAs(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Writes a value little-endian at any alignment.
template <class T>
void writeAs(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

[[nodiscard]] inline float readHalf(const std::byte* from) {
    return halfToFloat(readAs<std::uint16_t>(from));
}

/// 2^(code − 128), half of what an E8M0 exponent stands for: MXFP4's codes are kept doubled.
[[nodiscard]] inline float halfE8M0(std::uint32_t code) {
    const std::uint32_t bits = code < 2 ? 0x00200000U << code : (code - 1) << 23;
    return std::bit_cast<float>(bits);
}

}  // namespace quern::kernels
