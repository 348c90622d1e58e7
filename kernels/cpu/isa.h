#pragma once

#include "kernels/kernels.h"

namespace quern::kernels::cpu {

/// True when processor and operating system can run the tier's code. Never true for kAuto. Any
/// thread.
[[nodiscard]] bool hasTier(CpuTier tier);

/// The fastest tier that has kernels and runs here.
[[nodiscard]] CpuTier bestTier();

}  // namespace quern::kernels::cpu
