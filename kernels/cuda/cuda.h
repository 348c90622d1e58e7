#pragma once

#include <vector>

#include "kernels/kernels.h"

namespace quern::kernels::cuda {

/// The GPUs, or one entry that says why there is none. Any thread.
[[nodiscard]] std::vector<DeviceInfo> devices();

}  // namespace quern::kernels::cuda
