#pragma once

#include "kernels/cpu/gemm.h"

// The tables of the tiers: private to kernels/cpu.

namespace quern::kernels::cpu {

namespace generic {
[[nodiscard]] const GemmKernels& gemmTable();
}

#if defined(__x86_64__)
namespace avx2 {
[[nodiscard]] const GemmKernels& gemmTable();
}
namespace avx512 {
[[nodiscard]] const GemmKernels& gemmTable();
}
#endif

/// Checks what every tier's pack() demands of a matrix: rank 2, whole blocks, a known type, sizes
/// that do not overflow. Returns the bytes of one row.
[[nodiscard]] Result<std::int64_t> checkedRowBytes(const TensorView& weight);

}  // namespace quern::kernels::cpu
