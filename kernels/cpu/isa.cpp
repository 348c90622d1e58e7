#include "kernels/cpu/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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
    for (const CpuTier tier : {CpuTier::kGeneric, CpuTier::kAvx2, CpuTier::kAvx512}) {
        if (cpu::hasTier(tier)) {
            tiers.push_back(tier);
        }
    }
    return tiers;
}

namespace cpu {

namespace {

#if defined(__x86_64__)
// Asked of the processor itself: not every compiler's run-time library knows the name "f16c".
bool hasF16c() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

bool hasTier(CpuTier tier) {
    // The compiler's run-time library also asks the system (XGETBV) which registers it saves.
    switch (tier) {
        case CpuTier::kAuto:
            return false;
        case CpuTier::kGeneric:
            return true;
#if defined(__x86_64__)
        case CpuTier::kAvx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && hasF16c();
        case CpuTier::kAvx512:
            return hasTier(CpuTier::kAvx2) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512vnni");
#else
        case CpuTier::kAvx2:
        case CpuTier::kAvx512:
            return false;
#endif
    }
    return false;
}

CpuTier bestTier() {
    return availableCpuTiers().back();
}

}  // namespace cpu
}  // namespace quern::kernels
