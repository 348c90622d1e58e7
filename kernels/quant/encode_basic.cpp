#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/quant/encode.h"
#include "kernels/quant/half.h"

// The 32-element formats; layouts as in decode_basic.cpp. Scales and codes are those of GGML's
// reference quantizers, in its float32 arithmetic (gguf 0.19): codes are made with the scale before
// it is rounded to binary16.

namespace quern::kernels::encode {

namespace {

constexpr std::size_t kBlock = 32;
using Codes = std::array<std::uint8_t, kBlock>;

/// 0 for scales too small to divide by: all is zero then.
float inverse(float scale) {
    const float factor = 1.0F / scale;
    return std::isfinite(factor) ? factor : 0.0F;
}

/// The element that is farthest from zero; the first of equals.
float extreme(const float* values) {
    float most = values[0];
    for (std::size_t i = 1; i < kBlock; ++i) {
        if (std::fabs(values[i]) > std::fabs(most)) {
            most = values[i];
        }
    }
    return most;
}

/// Codes around the middle: the extreme element becomes code 0, whatever its sign.
Codes centredCodes(const float* values, float middle, std::byte* scaleAt) {
    const float scale = extreme(values) / -middle;
    const float factor = inverse(scale);
    writeAs(scaleAt, floatToHalf(scale));
    Codes codes;
    for (std::size_t i = 0; i < kBlock; ++i) {
        const float code = values[i] * factor + (middle + 0.5F);
        codes[i] = static_cast<std::uint8_t>(std::min(code, 2.0F * middle - 1.0F));
    }
    return codes;
}

/// Codes from the smallest element to the largest.
Codes rangeCodes(const float* values, float mostCode, std::byte* scaleAt, std::byte* minAt) {
    const auto [least, most] = std::minmax_element(values, values + kBlock);
    const float scale = (*most - *least) / mostCode;
    const float factor = inverse(scale);
    writeAs(scaleAt, floatToHalf(scale));
    writeAs(minAt, floatToHalf(*least));
    Codes codes;
    for (std::size_t i = 0; i < kBlock; ++i) {
        const float code = (values[i] - *least) * factor + 0.5F;
        codes[i] = static_cast<std::uint8_t>(std::min(code, mostCode));
    }
    return codes;
}

void writeNibbles(const Codes& codes, std::byte* to) {
    for (std::size_t i = 0; i < kBlock / 2; ++i) {
        to[i] = static_cast<std::byte>((codes[i] & 15) | ((codes[i + kBlock / 2] & 15) << 4));
    }
}

void writeFifthBits(const Codes& codes, std::byte* to) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
        bits |= static_cast<std::uint32_t>(codes[i] >> 4) << i;
    }
    writeAs(to, bits);
}

}  // namespace

void q4_0(const float* values, std::byte* block) {
    writeNibbles(centredCodes(values, 8.0F, block), block + 2);
}

void q4_1(const float* values, std::byte* block) {
    writeNibbles(rangeCodes(values, 15.0F, block, block + 2), block + 4);
}

void q5_0(const float* values, std::byte* block) {
    const Codes codes = centredCodes(values, 16.0F, block);
    writeFifthBits(codes, block + 2);
    writeNibbles(codes, block + 6);
}

void q5_1(const float* values, std::byte* block) {
    const Codes codes = rangeCodes(values, 31.0F, block, block + 2);
    writeFifthBits(codes, block + 4);
    writeNibbles(codes, block + 8);
}

void q8_0(const float* values, std::byte* block) {
    const float scale = std::fabs(extreme(values)) / 127.0F;
    const float factor = inverse(scale);
    writeAs(block, floatToHalf(scale));
    for (std::size_t i = 0; i < kBlock; ++i) {
        block[2 + i] =
            static_cast<std::byte>(static_cast<std::int8_t>(std::round(values[i] * factor)));
    }
}

}  // namespace quern::kernels::encode
