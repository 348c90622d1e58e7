// The avx2 tier's row-wise ops and attention. Standard headers come before the target pragma, so
// that no inline function of theirs is compiled for instructions that other tiers lack.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/tier_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define QUERN_INLINE inline __attribute__((always_inline))
#define QUERN_LAMBDA __attribute__((always_inline))

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
// A lambda without captures has an unused twin that could be called without AVX.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace quern::kernels::cpu::avx2 {

namespace {

#include "kernels/cpu/tier/vec_avx2.inl.h"
//
#include "kernels/cpu/tier/math.inl.h"
//
#include "kernels/cpu/tier/rows.inl.h"
//
#include "kernels/cpu/tier/routing.inl.h"
//
#include "kernels/cpu/tier/attention.inl.h"
//
#include "kernels/cpu/tier/scans.inl.h"

}  // namespace

#include "kernels/cpu/tier/table.inl.h"

}  // namespace quern::kernels::cpu::avx2

#pragma GCC pop_options
#endif
