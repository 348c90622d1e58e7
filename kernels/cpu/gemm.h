#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "kernels/cpu/weight_memory.h"
#include "kernels/kernels.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::kernels::cpu {

/// 32 columns of one row of activations in int8. All of a block lies together, so that a kernel
/// needs one pointer for each row.
struct Q8Block {
    float scale;                           // d
    float scaledSum;                       // d · Σq
    std::array<std::int16_t, 2> halfSums;  // Σq of columns 0–15 and 16–31
    std::array<std::int8_t, 32> values;    // q
};

/// Rows of activations in int8: what every quantized weight type multiplies. Quantizing a row looks
/// at that row alone: d = max|x| / 127 of the block, q = x / d rounded to the nearest even and
/// within ±127. A block whose largest value is below 2⁻¹⁰⁰ is all zeros; one that holds a value
/// that is not finite gets a NaN scale, so that the fault stays visible.
struct Q8Rows {
    std::int64_t rows = 0;
    std::int64_t cols = 0;      // a multiple of 32
    Q8Block* blocks = nullptr;  // [rows, cols / 32]
    [[nodiscard]] static std::int64_t bytes(std::int64_t rows, std::int64_t cols);
    /// Rows in `memory` (64-byte aligned, at least bytes(rows, cols)).
    [[nodiscard]] static Q8Rows place(std::byte* memory, std::int64_t rows, std::int64_t cols);
};

/// A weight matrix [outputs, inputs] repacked once for a tier: outputs interleaved in panels, so
/// that a 32-bit lane is one output and no horizontal sum is needed. Its data lies in the
/// WeightMemory it was packed into. Immutable; any thread.
class PackedWeight {
public:
    virtual ~PackedWeight() = default;
    [[nodiscard]] virtual std::int64_t outputs() const = 0;
    [[nodiscard]] virtual std::int64_t inputs() const = 0;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
    /// True when multiply() takes Q8 rows; else multiplyF32().
    [[nodiscard]] virtual bool takesQ8() const = 0;
    /// Work ranges should start at multiples of this many outputs.
    [[nodiscard]] virtual std::int64_t panelOutputs() const = 0;

    /// out[r, o] for rows [0, in.rows) and outputs [begin, end); out has `stride` floats a row.
    /// K-blocks are accumulated in ascending order with fused multiply-adds, the same for every
    /// count of rows and every range: one output is bitwise the same in any tiling.
    virtual void multiply(const Q8Rows& in, std::int64_t begin, std::int64_t end, float* out,
                          std::int64_t stride) const = 0;
    /// The same on float32 rows [rows, inputs()] with `inStride` floats a row.
    virtual void multiplyF32(const float* in, std::int64_t rows, std::int64_t inStride,
                             std::int64_t begin, std::int64_t end, float* out,
                             std::int64_t stride) const = 0;
    /// One row in float32 (embedding tables that are also the head are kept once, packed).
    virtual void unpackRow(std::int64_t output, float* out) const = 0;
};

/// Told, on the packing thread, every kPackSlice bytes of a weight how many of its rows are packed
/// by now; false cancels.
using RowsPacked = std::function<bool(std::int64_t rows)>;
inline constexpr std::int64_t kPackSlice = std::int64_t{8} << 20;

/// What a tier brings for matrices. One table a tier, filled once.
struct GemmKernels {
    /// Repacks a matrix (rank 2: [outputs, inputs]); `weight` is borrowed for the call, `memory`
    /// must outlive the result, `told` may be empty. `activations` kQ8 with a type that is not
    /// quantized gives an F32 kernel. kInvalidArgument names a shape that does not fit the type;
    /// kUnsupported a type that has no kernel; kOutOfMemory the bytes that were wanted; kCancelled
    /// when told() said so. May run in several threads at once.
    Result<std::unique_ptr<PackedWeight>> (*pack)(const TensorView& weight,
                                                  ActivationType activations, WeightMemory& memory,
                                                  const RowsPacked& told);
    /// Quantizes in.cols floats into row `row` of `to`.
    void (*quantizeRow)(const float* in, const Q8Rows& to, std::int64_t row);
};

/// The tier's table. The processor must have the tier; kAuto is no tier and gives the generic one.
[[nodiscard]] const GemmKernels& gemmKernels(CpuTier tier);

}  // namespace quern::kernels::cpu
