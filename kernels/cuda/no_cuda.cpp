// Linked in place of the CUDA backend where there was no CUDA toolkit at build time.
#include "kernels/cuda/cuda.h"

namespace quern::kernels::cuda {

std::vector<DeviceInfo> devices() {
    return {{.id = "cuda",
             .name = "NVIDIA GPU",
             .tier = {},
             .isAvailable = false,
             .whyNot = "this build has no CUDA support: it was made without the CUDA toolkit"}};
}

}  // namespace quern::kernels::cuda
