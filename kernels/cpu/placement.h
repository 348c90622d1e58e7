#pragma once

#include <cstdint>
#include <vector>

namespace quern::kernels::cpu {

/// A piece of scratch that is in use from one stage to another, both included.
struct Lifetime {
    std::int64_t size = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
};

struct Placement {
    std::vector<std::int64_t> offsets;  // [lifetimes], multiples of the alignment
    std::int64_t total = 0;
};

/// Gives pieces whose lifetimes don't meet the same memory. Largest first, each at the lowest
/// offset that is free for its whole life.
[[nodiscard]] Placement placeScratch(const std::vector<Lifetime>& lifetimes,
                                     std::int64_t alignment);

}  // namespace quern::kernels::cpu
