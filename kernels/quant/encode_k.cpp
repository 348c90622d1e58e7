// The K formats' writers with vectors of 16 bytes, which every 64-bit processor has.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/cpu/isa.h"
#include "kernels/quant/encode.h"
#include "kernels/quant/half.h"
#include "kernels/quant/k_scales.h"

#define QUERN_INLINE inline __attribute__((always_inline))

namespace quern::kernels::encode {

namespace generic {

namespace {

constexpr std::size_t kLanes = 4;
typedef float Lanes __attribute__((vector_size(16)));
typedef std::int32_t Masks __attribute__((vector_size(16)));

QUERN_INLINE Lanes splat(float x) {
    return Lanes{x, x, x, x};
}

/// The elements that are N apart.
template <std::size_t N>
QUERN_INLINE Lanes columnAt(const float* x) {
    return Lanes{x[0], x[N], x[2 * N], x[3 * N]};
}

#include "kernels/quant/encode_k.inl.h"

}  // namespace

const KWriters& kWriters() {
    static constexpr KWriters kAll{.q4K = q4K, .q5K = q5K, .q6K = q6K};
    return kAll;
}

}  // namespace generic

const KWriters& kWriters() {
#if defined(__x86_64__)
    static const bool hasAvx2 = cpu::hasTier(CpuTier::kAvx2);
    if (hasAvx2) {
        return avx2::kWriters();
    }
#endif
    return generic::kWriters();
}

}  // namespace quern::kernels::encode
