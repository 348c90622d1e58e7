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

void unpackFiveBits(const std::byte* highBits, const std::byte* nibbles, int offset,
                    IntBlock& out) {
    unpackNibbles(nibbles, 0, out);
    const auto high = readAs<std::uint32_t>(highBits);
    for (std::size_t i = 0; i < 32; ++i) {
        const int bit = static_cast<int>((high >> i) & 1U);
        out.q[i] = static_cast<std::int8_t>(out.q[i] + 16 * bit - offset);
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
