// The avx512 tier's matrix kernels: 256-bit vectors with VNNI and twice the registers.
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/gemm_tiers.h"
#include "kernels/cpu/panels.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni")

namespace quern::kernels::cpu::avx512 {

namespace {

#include "kernels/cpu/simd256/codes.inl.h"
//
#include "kernels/cpu/avx512/products.inl.h"
//
#include "kernels/cpu/simd256/formats.inl.h"
//
#include "kernels/cpu/simd256/loops.inl.h"
//
#include "kernels/cpu/simd256/table.inl.h"

}  // namespace

const GemmKernels& gemmTable() {
    static constexpr GemmKernels kTable{.pack = pack, .quantizeRow = quantizeRow};
    return kTable;
}

}  // namespace quern::kernels::cpu::avx512

#pragma GCC pop_options

#endif
