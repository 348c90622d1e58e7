#include "kernels/quant/half.h"
#include "kernels/quant/int_block.h"

// The 32-element formats. Nibble formats hold element i in the low half of byte i and element
// i + 16 in the high half. Layouts: GGML's block definitions, gguf 0.19.

namespace quern::kernels::decode {

namespace {

void setUniform(IntBlock& out, float scale, float min) {
    out.scale = {scale, scale};
    out.min = {min, min};
}

void unpackNibbles(const std::byte* nibbles, int offset, IntBlock& out) {
    for (std::size_t i = 0; i < 16; ++i) {
        const int byte = std::to_integer<int>(nibbles[i]);
        out.q[i] = static_cast<std::int8_t>((byte & 15) - offset);
        out.q[i + 16] = static_cast<std::int8_t>((byte >> 4) - offset);
    }
}

/// Entry b: bit i of b as byte i, worth 16.
constexpr std::array<std::array<std::int8_t, 8>, 256> kFifthBits = [] {
    std::array<std::array<std::int8_t, 8>, 256> table{};
    for (std::size_t bits = 0; bits < table.size(); ++bits) {
        for (std::size_t i = 0; i < 8; ++i) {
            table[bits][i] = static_cast<std::int8_t>(16 * ((bits >> i) & 1U));
        }
    }
    return table;
}();

void unpackFiveBits(const std::byte* highBits, const std::byte* nibbles, int offset,
                    IntBlock& out) {
    unpackNibbles(nibbles, offset, out);
    for (std::size_t byte = 0; byte < 4; ++byte) {
        const auto& high = kFifthBits[std::to_integer<std::size_t>(highBits[byte])];
        for (std::size_t i = 0; i < 8; ++i) {
            out.q[8 * byte + i] = static_cast<std::int8_t>(out.q[8 * byte + i] + high[i]);
        }
    }
}

}  // namespace

void q4_0(const std::byte* block, IntBlock* out) {
    setUniform(*out, readHalf(block), 0.0F);
    unpackNibbles(block + 2, 8, *out);
}

void q4_1(const std::byte* block, IntBlock* out) {
    setUniform(*out, readHalf(block), readHalf(block + 2));
    unpackNibbles(block + 4, 0, *out);
}

void q5_0(const std::byte* block, IntBlock* out) {
    setUniform(*out, readHalf(block), 0.0F);
    unpackFiveBits(block + 2, block + 6, 16, *out);
}

void q5_1(const std::byte* block, IntBlock* out) {
    setUniform(*out, readHalf(block), readHalf(block + 2));
    unpackFiveBits(block + 4, block + 8, 0, *out);
}

void q8_0(const std::byte* block, IntBlock* out) {
    setUniform(*out, readHalf(block), 0.0F);
    std::memcpy(out->q.data(), block + 2, 32);
}

}  // namespace quern::kernels::decode
