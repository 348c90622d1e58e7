#pragma once

#include <cstdint>
#include <string>

namespace quern::kernels::cpu {

/// What this process may use of the machine it runs on, from /proc, /sys and the cgroup. All of
/// these read files at each call; any thread.

/// The processor's marketing name, or its architecture where the system doesn't tell.
[[nodiscard]] std::string processorName();

/// Physical cores within the affinity mask, at most what the cgroup's CPU quota gives (rounded up);
/// at least 1.
[[nodiscard]] std::int32_t usableCores();

struct HostMemory {
    std::int64_t totalBytes = 0;  // the smaller of the machine and the cgroup's limit
    std::int64_t freeBytes = 0;   // what can be had now, page cache that can be dropped included
};
[[nodiscard]] HostMemory hostMemory();

}  // namespace quern::kernels::cpu
