#include "kernels/cpu/placement.h"

#include <algorithm>
#include <numeric>

namespace quern::kernels::cpu {

Placement placeScratch(const std::vector<Lifetime>& lifetimes, std::int64_t alignment) {
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return lifetimes[a].size > lifetimes[b].size;
    });
    Placement placement;
    placement.offsets.resize(lifetimes.size(), 0);
    std::vector<std::size_t> placed;  // by offset
    for (const std::size_t i : order) {
        const Lifetime& life = lifetimes[i];
        std::int64_t offset = 0;
        for (const std::size_t other : placed) {
            const bool meets =
                lifetimes[other].first <= life.last && life.first <= lifetimes[other].last;
            if (!meets) {
                continue;
            }
            if (offset + life.size <= placement.offsets[other]) {
                break;
            }
            const std::int64_t end = placement.offsets[other] + lifetimes[other].size;
            offset = std::max(offset, (end + alignment - 1) / alignment * alignment);
        }
        placement.offsets[i] = offset;
        placement.total = std::max(placement.total, offset + life.size);
        placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                       [&](std::size_t a, std::size_t b) {
                                           return placement.offsets[a] < placement.offsets[b];
                                       }),
                      i);
    }
    return placement;
}

}  // namespace quern::kernels::cpu
