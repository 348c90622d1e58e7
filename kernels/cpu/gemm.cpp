#include "kernels/cpu/gemm.h"

#include <string>

#include "kernels/cpu/gemm_tiers.h"
#include "kernels/quant.h"

namespace quern::kernels::cpu {

std::int64_t Q8Rows::bytes(std::int64_t rows, std::int64_t cols) {
    return rows * (cols / 32) * static_cast<std::int64_t>(sizeof(Q8Block));
}

Q8Rows Q8Rows::place(std::byte* memory, std::int64_t rows, std::int64_t cols) {
    return {.rows = rows, .cols = cols, .blocks = reinterpret_cast<Q8Block*>(memory)};
}

Result<std::int64_t> checkedRowBytes(const TensorView& weight) {
    if (weight.shape.rank != 2 || weight.shape.rows() < 1 || weight.shape.cols() < 1) {
        return fail(ErrorCode::kInvalidArgument,
                    "a weight to multiply by has rank " + std::to_string(weight.shape.rank) + " [" +
                        std::to_string(weight.shape.rows()) + ", " +
                        std::to_string(weight.shape.cols()) + "], not a matrix");
    }
    if (weight.data == nullptr) {
        return fail(ErrorCode::kInvalidArgument, "a weight to multiply by has no data");
    }
    auto bytes = rowBytes(weight.type, weight.shape.cols());
    // Repacking may widen an element to eight bytes, and pads the last panel.
    std::int64_t elements = 0;
    if (bytes && (__builtin_mul_overflow(weight.shape.rows(), weight.shape.cols(), &elements) ||
                  elements > std::int64_t{1} << 56)) {
        return fail(ErrorCode::kInvalidArgument,
                    "a weight of " + std::to_string(weight.shape.rows()) + " × " +
                        std::to_string(weight.shape.cols()) + " elements is too large");
    }
    return bytes;
}

const GemmKernels& gemmKernels(CpuTier tier) {
#if defined(__x86_64__)
    if (tier == CpuTier::kAvx2) {
        return avx2::gemmTable();
    }
    if (tier == CpuTier::kAvx512) {
        return avx512::gemmTable();
    }
#endif
    (void)tier;
    return generic::gemmTable();
}

}  // namespace quern::kernels::cpu
