#include <bit>

#include "kernels/quant/half.h"
#include "kernels/quant/int_block.h"

// Formats whose codes name a value: non-linear 4-bit, 4-bit floats, ternary. Layouts and the
// IQ4 values: GGML's block definitions, gguf 0.19; E2M1 and E8M0: OCP Microscaling 1.0.

namespace quern::kernels::decode {

namespace {

using Codebook = std::array<std::int8_t, 16>;

constexpr Codebook kIq4Values{-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};
// Twice the E2M1 values, so that all are whole; scales are halved in return.
constexpr Codebook kE2M1Doubled{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// `width` codes from width / 2 bytes: low nibbles first, then high ones.
void lookUp(const std::byte* nibbles, const Codebook& values, std::size_t width, std::int8_t* out) {
    for (std::size_t i = 0; i < width / 2; ++i) {
        const auto byte = std::to_integer<std::size_t>(nibbles[i]);
        out[i] = values[byte & 15U];
        out[i + width / 2] = values[byte >> 4];
    }
}

void setUniform(IntBlock& out, float scale) {
    out.scale = {scale, scale};
    out.min = {0.0F, 0.0F};
}

/// Half of an unsigned E4M3 scale (bias 7). The sign bit is not looked at, except that 0x7F reads
/// as zero and 0xFF as the 480 that E4M3 would give without its NaN: what the reference reader
/// does.
float halfUE4M3(std::uint8_t code) {
    if (code == 0x7FU) {
        return 0.0F;
    }
    return code == 0xFFU ? 240.0F : 0.5F * f8E4M3ToFloat(code & 0x7FU);
}

}  // namespace

void iq4Nl(const std::byte* block, IntBlock* out) {
    setUniform(*out, readHalf(block));
    lookUp(block + 2, kIq4Values, 32, out->q.data());
}

void iq4Xs(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block);
    const auto highScales = readAs<std::uint16_t>(block + 2);
    for (std::size_t b = 0; b < 8; ++b) {
        const int low = (std::to_integer<int>(block[4 + b / 2]) >> (4 * (b % 2))) & 15;
        const int high = (highScales >> (2 * b)) & 3;
        setUniform(out[b], d * static_cast<float>((low | (high << 4)) - 32));
        lookUp(block + 8 + 16 * b, kIq4Values, 32, out[b].q.data());
    }
}

void tq1_0(const std::byte* block, IntBlock* out) {
    // A byte holds up to five ternary digits as a fixed-point fraction of 256: multiplying by a
    // power of three brings the next digit to the top.
    constexpr std::array<unsigned, 5> kPowers{1, 3, 9, 27, 81};
    const float d = readHalf(block + 52);
    std::size_t element = 0;
    const auto digits = [&](const std::byte* bytes, std::size_t count, std::size_t rounds) {
        for (std::size_t n = 0; n < rounds; ++n) {
            for (std::size_t i = 0; i < count; ++i, ++element) {
                const unsigned rest = (std::to_integer<unsigned>(bytes[i]) * kPowers[n]) & 0xFFU;
                const int digit = static_cast<int>((rest * 3U) >> 8);
                out[element / 32].q[element % 32] = static_cast<std::int8_t>(digit - 1);
            }
        }
    };
    digits(block, 32, 5);
    digits(block + 32, 16, 5);
    digits(block + 48, 4, 4);
    for (std::size_t b = 0; b < 8; ++b) {
        setUniform(out[b], d);
    }
}

void tq2_0(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block + 64);
    for (std::size_t b = 0; b < 8; ++b) {
        for (std::size_t i = 0; i < 32; ++i) {
            const int byte = std::to_integer<int>(block[32 * (b / 4) + i]);
            out[b].q[i] = static_cast<std::int8_t>(((byte >> (2 * (b % 4))) & 3) - 1);
        }
        setUniform(out[b], d);
    }
}

void mxfp4(const std::byte* block, IntBlock* out) {
    setUniform(*out, halfE8M0(std::to_integer<std::uint32_t>(block[0])));
    lookUp(block + 1, kE2M1Doubled, 32, out->q.data());
}

void nvfp4(const std::byte* block, IntBlock* out) {
    for (std::size_t b = 0; b < 2; ++b) {
        for (std::size_t half = 0; half < 2; ++half) {
            const std::size_t run = 2 * b + half;
            out[b].scale[half] = halfUE4M3(std::to_integer<std::uint8_t>(block[run]));
            out[b].min[half] = 0.0F;
            lookUp(block + 4 + 8 * run, kE2M1Doubled, 16, out[b].q.data() + 16 * half);
        }
    }
}

}  // namespace quern::kernels::decode
