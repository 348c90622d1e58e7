#include "kernels/quant/half.h"
#include "kernels/quant/int_block.h"
#include "kernels/quant/k_scales.h"

// The K formats: 256 elements with integer scales of sub-blocks of 16 or 32. Layouts: GGML's block
// definitions, gguf 0.19.

namespace quern::kernels::decode {

namespace {

int byteAt(const std::byte* bytes, std::size_t i) {
    return std::to_integer<int>(bytes[i]);
}

void setScaleMinK(const std::byte* block, std::size_t i, IntBlock& out) {
    const KScaleMin parts = scaleMinK(block + 4, i);
    const float scale = readHalf(block) * static_cast<float>(parts.scale);
    const float min = -(readHalf(block + 2) * static_cast<float>(parts.min));
    out.scale = {scale, scale};
    out.min = {min, min};
}

}  // namespace

void q2K(const std::byte* block, IntBlock* out) {
    const std::byte* scales = block;
    const std::byte* quants = block + 16;
    const float d = readHalf(block + 80);
    const float dMin = readHalf(block + 82);
    for (std::size_t b = 0; b < 8; ++b) {
        const std::byte* from = quants + 32 * (b / 4);
        const auto shift = static_cast<int>(2 * (b % 4));
        for (std::size_t i = 0; i < 32; ++i) {
            out[b].q[i] = static_cast<std::int8_t>((byteAt(from, i) >> shift) & 3);
        }
        for (std::size_t half = 0; half < 2; ++half) {
            const int packed = byteAt(scales, 2 * b + half);
            out[b].scale[half] = d * static_cast<float>(packed & 15);
            out[b].min[half] = -(dMin * static_cast<float>(packed >> 4));
        }
    }
}

void q3K(const std::byte* block, IntBlock* out) {
    const std::byte* highBits = block;
    const std::byte* quants = block + 32;
    const std::byte* scales = block + 96;
    const float d = readHalf(block + 108);
    for (std::size_t b = 0; b < 8; ++b) {
        const std::byte* from = quants + 32 * (b / 4);
        const auto shift = static_cast<int>(2 * (b % 4));
        for (std::size_t i = 0; i < 32; ++i) {
            const int low = (byteAt(from, i) >> shift) & 3;
            const int high = (byteAt(highBits, i) >> b) & 1;
            out[b].q[i] = static_cast<std::int8_t>(low + 4 * high - 4);
        }
        for (std::size_t half = 0; half < 2; ++half) {
            // Sixteen 6-bit scales: nibbles in bytes 0–7, top pairs of bits in bytes 8–11.
            const std::size_t s = 2 * b + half;
            const int nibble = s < 8 ? byteAt(scales, s) & 15 : byteAt(scales, s - 8) >> 4;
            const int top = (byteAt(scales, 8 + s % 4) >> (2 * (s / 4))) & 3;
            out[b].scale[half] = d * static_cast<float>((nibble | (top << 4)) - 32);
            out[b].min[half] = 0.0F;
        }
    }
}

void q4K(const std::byte* block, IntBlock* out) {
    const std::byte* quants = block + 16;
    for (std::size_t b = 0; b < 8; ++b) {
        const std::byte* from = quants + 32 * (b / 2);
        const int shift = b % 2 == 0 ? 0 : 4;
        for (std::size_t i = 0; i < 32; ++i) {
            out[b].q[i] = static_cast<std::int8_t>((byteAt(from, i) >> shift) & 15);
        }
        setScaleMinK(block, b, out[b]);
    }
}

void q5K(const std::byte* block, IntBlock* out) {
    const std::byte* highBits = block + 16;
    const std::byte* quants = block + 48;
    for (std::size_t b = 0; b < 8; ++b) {
        const std::byte* from = quants + 32 * (b / 2);
        const int shift = b % 2 == 0 ? 0 : 4;
        for (std::size_t i = 0; i < 32; ++i) {
            const int low = (byteAt(from, i) >> shift) & 15;
            const int high = (byteAt(highBits, i) >> b) & 1;
            out[b].q[i] = static_cast<std::int8_t>(low + 16 * high);
        }
        setScaleMinK(block, b, out[b]);
    }
}

void q6K(const std::byte* block, IntBlock* out) {
    const std::byte* scales = block + 192;
    const float d = readHalf(block + 208);
    for (std::size_t b = 0; b < 8; ++b) {
        // Each half of 128 elements: four runs of 32; runs 0 and 1 take low nibbles, 2 and 3 high.
        const std::size_t run = b % 4;
        const std::byte* low = block + 64 * (b / 4) + 32 * (run % 2);
        const std::byte* high = block + 128 + 32 * (b / 4);
        const int lowShift = run < 2 ? 0 : 4;
        const auto highShift = static_cast<int>(2 * run);
        for (std::size_t i = 0; i < 32; ++i) {
            const int value =
                ((byteAt(low, i) >> lowShift) & 15) | (((byteAt(high, i) >> highShift) & 3) << 4);
            out[b].q[i] = static_cast<std::int8_t>(value - 32);
        }
        for (std::size_t half = 0; half < 2; ++half) {
            const auto scale = static_cast<std::int8_t>(byteAt(scales, 2 * b + half));
            out[b].scale[half] = d * static_cast<float>(scale);
            out[b].min[half] = 0.0F;
        }
    }
}

}  // namespace quern::kernels::decode
