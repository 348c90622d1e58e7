#include "kernels/cpu/tier_kernels.h"

namespace quern::kernels::cpu {

const TierKernels& tierKernels(CpuTier tier) {
#if defined(__x86_64__)
    if (tier == CpuTier::kAvx2 || tier == CpuTier::kAvx512) {
        return avx2::kernels();
    }
#endif
    (void)tier;
    return generic::kernels();
}

}  // namespace quern::kernels::cpu
