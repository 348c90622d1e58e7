// The K formats' writers with vectors of 32 bytes. Standard headers come before the target pragma,
// so that no inline function of theirs is compiled for instructions that other tiers lack.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/quant/encode.h"
#include "kernels/quant/half.h"
#include "kernels/quant/k_scales.h"

#if defined(__x86_64__)

#define QUERN_INLINE inline __attribute__((always_inline))

#pragma GCC push_options
#pragma GCC target("avx2")

namespace quern::kernels::encode::avx2 {

namespace {

constexpr std::size_t kLanes = 8;
typedef float Lanes __attribute__((vector_size(32)));
typedef std::int32_t Masks __attribute__((vector_size(32)));

QUERN_INLINE Lanes splat(float x) {
    return Lanes{x, x, x, x, x, x, x, x};
}

/// The elements that are N apart.
template <std::size_t N>
QUERN_INLINE Lanes columnAt(const float* x) {
    return Lanes{x[0], x[N], x[2 * N], x[3 * N], x[4 * N], x[5 * N], x[6 * N], x[7 * N]};
}

#include "kernels/quant/encode_k.inl.h"

}  // namespace

const KWriters& kWriters() {
    static constexpr KWriters kAll{.q4K = q4K, .q5K = q5K, .q6K = q6K};
    return kAll;
}

}  // namespace quern::kernels::encode::avx2

#pragma GCC pop_options
#endif
