#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quern::kernels {

/// Element types of tensors. Block formats follow the GGML definitions; kernels/quant.h describes
/// their layout. The enumerators are ours: files map their own numbers to them.
enum class DType : std::uint8_t {
    kF32,
    kF16,
    kBF16,
    kF8E4M3,
    kF8E5M2,
    kI8,
    kI32,
    kQ4_0,
    kQ4_1,
    kQ5_0,
    kQ5_1,
    kQ8_0,
    kQ2_K,
    kQ3_K,
    kQ4_K,
    kQ5_K,
    kQ6_K,
    kIQ1_S,
    kIQ1_M,
    kIQ2_XXS,
    kIQ2_XS,
    kIQ2_S,
    kIQ3_XXS,
    kIQ3_S,
    kIQ4_NL,
    kIQ4_XS,
    kTQ1_0,
    kTQ2_0,
    kMXFP4,
    kNVFP4,
};

/// Row-major, outermost dimension first; unused trailing dimensions are 1. A weight that GGUF calls
/// ne = {in, out} is Shape{out, in} here.
struct Shape {
    std::array<std::int64_t, 4> dims{1, 1, 1, 1};
    int rank = 0;

    /// All dimensions but the last, multiplied: the number of contiguous rows.
    [[nodiscard]] std::int64_t rows() const {
        std::int64_t product = 1;
        for (int i = 0; i + 1 < rank; ++i) {
            product *= dims[static_cast<std::size_t>(i)];
        }
        return product;
    }
    /// The last dimension: the elements of one row.
    [[nodiscard]] std::int64_t cols() const {
        return rank == 0 ? 1 : dims[static_cast<std::size_t>(rank - 1)];
    }
    [[nodiscard]] std::int64_t elements() const { return rows() * cols(); }
    bool operator==(const Shape&) const = default;
};

/// A read-only view of a dense host tensor. Never owns: `data` must outlive the use, which each
/// function that takes a view states.
struct TensorView {
    DType type = DType::kF32;
    Shape shape;
    const std::byte* data = nullptr;
};

}  // namespace quern::kernels
