#include "kernels/cpu/isa.h"

namespace quern::kernels {

std::string_view tierName(CpuTier tier) {
    switch (tier) {
        case CpuTier::kAuto:
            return "auto";
        case CpuTier::kGeneric:
            return "generic";
        case CpuTier::kAvx2:
            return "avx2";
        case CpuTier::kAvx512:
            return "avx512";
    }
    return "unknown";
}

std::vector<CpuTier> availableCpuTiers() {
    std::vector<CpuTier> tiers;
    for (const CpuTier tier : {CpuTier::kGeneric, CpuTier::kAvx2}) {
        if (cpu::hasTier(tier)) {
            tiers.push_back(tier);
        }
    }
    return tiers;
}

namespace cpu {

bool hasTier(CpuTier tier) {
    switch (tier) {
        case CpuTier::kAuto:
            return false;
        case CpuTier::kGeneric:
            return true;
        case CpuTier::kAvx2:
#if defined(__x86_64__)
            // The compiler's run-time library also asks the system (XGETBV) whether it saves ymm.
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("f16c");
#else
            return false;
#endif
        case CpuTier::kAvx512:
            return false;  // no kernels of its own; bestTier falls to AVX2 on such processors
    }
    return false;
}

CpuTier bestTier() {
    return availableCpuTiers().back();
}

}  // namespace cpu
}  // namespace quern::kernels
