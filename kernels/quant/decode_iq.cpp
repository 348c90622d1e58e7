#include <bit>

#include "kernels/quant/half.h"
#include "kernels/quant/int_block.h"
#include "kernels/quant/iq_grids.h"

// The grid formats: 256 elements in runs of 8 (or 4) that name a point of a grid, with signs apart.
// Layouts: GGML's block definitions, gguf 0.19.

namespace quern::kernels::decode {

namespace {

constexpr std::array<std::int8_t, 4> kTwoBitValues{8, 25, 43, 0};
constexpr std::array<std::int8_t, 8> kThreeBitValues{4, 12, 20, 28, 36, 44, 52, 62};
constexpr std::array<std::int8_t, 8> kOddValues{1, 3, 5, 7, 9, 11, 13, 15};

unsigned codeAt(const std::byte* bytes, std::size_t i) {
    return std::to_integer<unsigned>(bytes[i]);
}

/// The values of a grid point, with the signs that the set bits of `signs` turn.
template <std::size_t Count, unsigned Bits>
void putPoint(std::uint16_t point, const std::array<std::int8_t, std::size_t{1} << Bits>& values,
              unsigned signs, std::int8_t* out) {
    for (std::size_t i = 0; i < Count; ++i) {
        const int value =
            values[(static_cast<unsigned>(point) >> (Bits * i)) & ((1U << Bits) - 1U)];
        const int turned = -static_cast<int>((signs >> i) & 1U);
        out[i] = static_cast<std::int8_t>((value ^ turned) - turned);
    }
}

/// Seven sign bits; the eighth makes their number even.
unsigned evenSigns(std::uint32_t sevenBits) {
    const unsigned low = sevenBits & 127U;
    return low | (static_cast<unsigned>(std::popcount(low) & 1) << 7);
}

void putTwoBit(std::uint16_t point, unsigned signs, std::int8_t* out) {
    putPoint<8, 2>(point, kTwoBitValues, signs, out);
}

/// Codes c of a grid point, eight times too large and with the format's ± 1/8 added: 8(c − 1) ± 1.
void putOneBit(std::uint16_t point, bool isShiftNegative, std::int8_t* out) {
    for (std::size_t i = 0; i < 8; ++i) {
        const int code = (point >> (2 * i)) & 3;
        out[i] = static_cast<std::int8_t>(8 * (code - 1) + (isShiftNegative ? -1 : 1));
    }
}

void setScales(IntBlock& out, float first, float second) {
    out.scale = {first, second};
    out.min = {0.0F, 0.0F};
}

/// d · (½ + scale) · ¼, in the reference's order of operations.
float twoBitScale(float d, unsigned scale) {
    return d * (0.5F + static_cast<float>(scale)) * 0.25F;
}

}  // namespace

void iq2Xxs(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block);
    for (std::size_t b = 0; b < 8; ++b) {
        const std::byte* points = block + 2 + 8 * b;
        const auto signsAndScale = readAs<std::uint32_t>(points + 4);
        for (std::size_t run = 0; run < 4; ++run) {
            putTwoBit(iq::kGrid2Xxs[codeAt(points, run)], evenSigns(signsAndScale >> (7 * run)),
                      out[b].q.data() + 8 * run);
        }
        const float scale = twoBitScale(d, signsAndScale >> 28);
        setScales(out[b], scale, scale);
    }
}

void iq2Xs(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block);
    for (std::size_t b = 0; b < 8; ++b) {
        for (std::size_t run = 0; run < 4; ++run) {
            const auto word = readAs<std::uint16_t>(block + 2 + 8 * b + 2 * run);
            putTwoBit(iq::kGrid2Xs[word & 511U], evenSigns(word >> 9), out[b].q.data() + 8 * run);
        }
        const unsigned scales = codeAt(block, 66 + b);
        setScales(out[b], twoBitScale(d, scales & 15U), twoBitScale(d, scales >> 4));
    }
}

void iq2S(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block);
    for (std::size_t b = 0; b < 8; ++b) {
        const unsigned high = codeAt(block, 66 + b);
        for (std::size_t run = 0; run < 4; ++run) {
            const unsigned point =
                codeAt(block, 2 + 4 * b + run) | (((high >> (2 * run)) & 3U) << 8);
            putTwoBit(iq::kGrid2S[point], codeAt(block, 34 + 4 * b + run),
                      out[b].q.data() + 8 * run);
        }
        const unsigned scales = codeAt(block, 74 + b);
        setScales(out[b], twoBitScale(d, scales & 15U), twoBitScale(d, scales >> 4));
    }
}

void iq3Xxs(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block);
    for (std::size_t b = 0; b < 8; ++b) {
        const auto signsAndScale = readAs<std::uint32_t>(block + 66 + 4 * b);
        for (std::size_t run = 0; run < 8; ++run) {
            const unsigned signs = evenSigns(signsAndScale >> (7 * (run / 2)));
            putPoint<4, 3>(iq::kGrid3Xxs[codeAt(block, 2 + 8 * b + run)], kThreeBitValues,
                           signs >> (4 * (run % 2)), out[b].q.data() + 4 * run);
        }
        const float scale = d * (0.5F + static_cast<float>(signsAndScale >> 28)) * 0.5F;
        setScales(out[b], scale, scale);
    }
}

void iq3S(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block);
    for (std::size_t b = 0; b < 8; ++b) {
        const unsigned high = codeAt(block, 66 + b);
        for (std::size_t run = 0; run < 8; ++run) {
            const unsigned point = codeAt(block, 2 + 8 * b + run) | (((high >> run) & 1U) << 8);
            const unsigned signs = codeAt(block, 74 + 4 * b + run / 2) >> (4 * (run % 2));
            putPoint<4, 3>(iq::kGrid3S[point], kOddValues, signs, out[b].q.data() + 4 * run);
        }
        const unsigned scales = (codeAt(block, 106 + b / 2) >> (4 * (b % 2))) & 15U;
        const float scale = d * static_cast<float>(1 + 2 * scales);
        setScales(out[b], scale, scale);
    }
}

void iq1S(const std::byte* block, IntBlock* out) {
    const float d = readHalf(block);
    for (std::size_t b = 0; b < 8; ++b) {
        const auto high = readAs<std::uint16_t>(block + 34 + 2 * b);
        for (std::size_t run = 0; run < 4; ++run) {
            const unsigned point = codeAt(block, 2 + 4 * b + run) |
                                   (((static_cast<unsigned>(high) >> (3 * run)) & 7U) << 8);
            putOneBit(iq::kGrid1[point], (high & 0x8000U) != 0, out[b].q.data() + 8 * run);
        }
        const float scale = d * static_cast<float>(2 * ((high >> 12) & 7) + 1) * 0.125F;
        setScales(out[b], scale, scale);
    }
}

void iq1M(const std::byte* block, IntBlock* out) {
    // The block's scale is spread over the top nibbles of the four words of sub-block scales.
    std::array<unsigned, 4> words{};
    unsigned bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        words[i] = readAs<std::uint16_t>(block + 48 + 2 * i);
        bits |= (words[i] >> 12) << (4 * i);
    }
    const float d = halfToFloat(static_cast<std::uint16_t>(bits));
    for (std::size_t b = 0; b < 8; ++b) {
        for (std::size_t run = 0; run < 4; ++run) {
            const unsigned high = codeAt(block, 32 + 2 * b + run / 2) >> (4 * (run % 2));
            const unsigned point = codeAt(block, 4 * b + run) | ((high & 7U) << 8);
            putOneBit(iq::kGrid1[point], (high & 8U) != 0, out[b].q.data() + 8 * run);
        }
        const auto scale = [&](std::size_t half) {
            const unsigned code = (words[b / 2] >> (6 * (b % 2) + 3 * half)) & 7U;
            return d * static_cast<float>(2 * code + 1) * 0.125F;
        };
        setScales(out[b], scale(0), scale(1));
    }
}

}  // namespace quern::kernels::decode
