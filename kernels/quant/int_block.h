#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/tensor.h"

namespace quern::kernels {

/// 32 consecutive elements of any block format, as small integers:
/// value[i] = scale[i / 16] · q[i] + min[i / 16], each operation rounded to float32.
/// What every reader, packer and test sees; the formats' bit layouts stay in kernels/quant.
struct IntBlock {
    std::array<std::int8_t, 32> q;
    std::array<float, 2> scale;
    std::array<float, 2> min;
};

/// What a format's IntBlocks may look like, whatever their content.
struct IntBlockShape {
    bool hasMin;   // min may differ from zero
    bool isSplit;  // the halves have scales of their own
};
[[nodiscard]] IntBlockShape intBlockShape(DType type);

/// Decodes one block of a format into blockElements / 32 IntBlocks.
using BlockDecoder = void (*)(const std::byte* block, IntBlock* out);

/// The decoder of a block format; null for types that have none (plain types).
[[nodiscard]] BlockDecoder blockDecoder(DType type);

namespace decode {
void q4_0(const std::byte* block, IntBlock* out);
void q4_1(const std::byte* block, IntBlock* out);
void q5_0(const std::byte* block, IntBlock* out);
void q5_1(const std::byte* block, IntBlock* out);
void q8_0(const std::byte* block, IntBlock* out);
void q2K(const std::byte* block, IntBlock* out);
void q3K(const std::byte* block, IntBlock* out);
void q4K(const std::byte* block, IntBlock* out);
void q5K(const std::byte* block, IntBlock* out);
void q6K(const std::byte* block, IntBlock* out);
void iq4Nl(const std::byte* block, IntBlock* out);
void iq4Xs(const std::byte* block, IntBlock* out);
void iq1S(const std::byte* block, IntBlock* out);
void iq1M(const std::byte* block, IntBlock* out);
void iq2Xxs(const std::byte* block, IntBlock* out);
void iq2Xs(const std::byte* block, IntBlock* out);
void iq2S(const std::byte* block, IntBlock* out);
void iq3Xxs(const std::byte* block, IntBlock* out);
void iq3S(const std::byte* block, IntBlock* out);
void tq1_0(const std::byte* block, IntBlock* out);
void tq2_0(const std::byte* block, IntBlock* out);
void mxfp4(const std::byte* block, IntBlock* out);
void nvfp4(const std::byte* block, IntBlock* out);
}  // namespace decode

}  // namespace quern::kernels
