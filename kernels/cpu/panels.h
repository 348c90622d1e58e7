#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/cpu/gemm.h"

// Weights repacked for tiers with 256-bit vectors: private to kernels/cpu.
//
// A panel is 8 outputs; the last one is padded with zero weights. For plain types it is
// [inputs][8 outputs]. For block formats it is a row of blocks of 32 columns, each its scales and
// then its codes; K formats put the scales that 8 blocks share before them. All is read once and
// in order, so that the processor's prefetching keeps up. Codes are read as 32-bit lanes: lane o of
// "group" g (g = 0 … 7) holds the codes of columns 4g … 4g + 3 of output o, so that one
// multiply-add of bytes by a broadcast group of activations advances all 8 outputs.

namespace quern::kernels::cpu {

inline constexpr std::int64_t kPanelOutputs = 8;

/// How a weight lies in panels; several file types may share one.
enum class PanelFormat : std::uint8_t {
    kQ4_0,       // nibbles − 8, half scale
    kQ4_1,       // nibbles, half scale and minimum
    kQ4_K,       // nibbles, 6-bit scales and minima under two half scales
    kQ5_0,       // as kQ4_0 with a fifth bit, − 16
    kQ5_1,       // as kQ4_1 with a fifth bit
    kQ5_K,       // as kQ4_K with a fifth bit
    kQ6_K,       // six bits − 32, an int8 scale for each half block under a half scale
    kQ8_0,       // int8, half scale
    kMXFP4,      // nibbles that number kMxfp4Codes, 8-bit exponent
    kSplit8,     // int8, a float scale for each half block
    kSplitMin8,  // int8, a float scale and minimum for each half block
    kF32,
    kF16,
    kBF16,
};

/// Bytes of codes in a block of a panel (8 outputs × 32 columns).
inline constexpr std::int64_t kNibbleBytes = 128;   // byte [j][o][i]: groups j (low) and j + 4
inline constexpr std::int64_t kFifthBitBytes = 32;  // byte [o][i], bit g
inline constexpr std::int64_t kTopPairBytes = 64;   // byte [g / 4][o][i], bits 2(g % 4) and up
inline constexpr std::int64_t kInt8Bytes = 256;     // byte [g][o][i]

/// Twice the values of MXFP4, plus kMxfp4Offset so that none is negative, in ascending order: what
/// its nibbles number in a panel. The last is never used.
inline constexpr int kMxfp4Offset = 12;
inline constexpr std::array<std::uint8_t, 16> kMxfp4Codes{0,  4,  6,  8,  9,  10, 11, 12,
                                                          13, 14, 15, 16, 18, 20, 24, 24};

struct PanelGeometry {
    std::int64_t groupBlocks;  // blocks that share a head
    std::int64_t headBytes;    // of the scales that they share
    std::int64_t scaleBytes;   // of a block's own scales
    std::int64_t codeBytes;    // of a block; of one column for plain types

    [[nodiscard]] constexpr std::int64_t blockBytes() const { return scaleBytes + codeBytes; }
    [[nodiscard]] constexpr std::int64_t groupBytes() const {
        return headBytes + groupBlocks * blockBytes();
    }
    /// Where the head of block `index` stands in a panel.
    [[nodiscard]] constexpr std::int64_t headOf(std::int64_t index) const {
        return index / groupBlocks * groupBytes();
    }
    /// Where the scales of block `index` stand in a panel; its codes follow.
    [[nodiscard]] constexpr std::int64_t blockAt(std::int64_t index) const {
        return headOf(index) + headBytes + index % groupBlocks * blockBytes();
    }
};

[[nodiscard]] constexpr PanelGeometry panelGeometry(PanelFormat format) {
    switch (format) {
        case PanelFormat::kQ4_0:
            return {1, 0, 16, kNibbleBytes};
        case PanelFormat::kQ4_1:
            return {1, 0, 32, kNibbleBytes};
        case PanelFormat::kQ4_K:
            return {8, 32, 16, kNibbleBytes};
        case PanelFormat::kQ5_0:
            return {1, 0, 16, kNibbleBytes + kFifthBitBytes};
        case PanelFormat::kQ5_1:
            return {1, 0, 32, kNibbleBytes + kFifthBitBytes};
        case PanelFormat::kQ5_K:
            return {8, 32, 16, kNibbleBytes + kFifthBitBytes};
        case PanelFormat::kQ6_K:
            return {8, 16, 16, kNibbleBytes + kTopPairBytes};
        case PanelFormat::kQ8_0:
            return {1, 0, 16, kInt8Bytes};
        case PanelFormat::kMXFP4:
            return {1, 0, 8, kNibbleBytes};
        case PanelFormat::kSplit8:
            return {1, 0, 64, kInt8Bytes};
        case PanelFormat::kSplitMin8:
            return {1, 0, 128, kInt8Bytes};
        case PanelFormat::kF32:
            return {1, 0, 0, 4 * kPanelOutputs};
        case PanelFormat::kF16:
        case PanelFormat::kBF16:
            break;
    }
    return {1, 0, 0, 2 * kPanelOutputs};
}

/// A repacked matrix, as kernels see it.
struct PanelMatrix {
    PanelFormat format = PanelFormat::kF32;
    std::int64_t outputs = 0;
    std::int64_t inputs = 0;
    std::int64_t panelBytes = 0;
    const std::byte* data = nullptr;

    [[nodiscard]] std::int64_t blocks() const { return inputs / 32; }
    [[nodiscard]] const std::byte* panel(std::int64_t index) const {
        return data + index * panelBytes;
    }
};

/// A tier's kernels for one format. Ranges start at multiples of kPanelOutputs.
struct PanelKernels {
    void (*multiplyQ8)(const PanelMatrix& weight, const Q8Rows& in, std::int64_t begin,
                       std::int64_t end, float* out, std::int64_t stride) = nullptr;
    void (*multiplyF32)(const PanelMatrix& weight, const float* in, std::int64_t rows,
                        std::int64_t inStride, std::int64_t begin, std::int64_t end, float* out,
                        std::int64_t stride) = nullptr;
};

/// Repacks for a tier; `kernelsOf` gives its kernels. Errors as GemmKernels::pack.
[[nodiscard]] Result<std::unique_ptr<PackedWeight>> packPanels(
    const TensorView& weight, ActivationType activations, WeightMemory& memory,
    const RowsPacked& told, PanelKernels (*kernelsOf)(PanelFormat));

}  // namespace quern::kernels::cpu
