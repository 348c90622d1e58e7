#include "engine/core/kv_sizing.h"

#include <algorithm>
#include <limits>

namespace quern::engine {

namespace {

std::int64_t blocksFor(std::int64_t tokens) {
    return (tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
}

}  // namespace

KvSize kvSizeFor(const kernels::KvLayout& layout, std::span<const KvGroupSpec> groups,
                 const KvDemand& demand, std::int64_t tokens) {
    const std::int64_t context = blocksFor(demand.contextTokens);
    const std::int64_t whole = std::max(blocksFor(tokens), context);
    KvSize size;
    size.tokens = whole * kernels::kBlockTokens;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::int64_t blocks = whole;
        if (const std::int64_t window = groups[g].window; window > 0) {
            // Behind each sequence's window all is freed; its step's tokens come on top.
            const std::int64_t one = blocksFor(window + demand.stepTokens) + 1;
            const std::int64_t most =
                demand.maxRunning * (blocksFor(window) + 2) + blocksFor(demand.stepTokens);
            const std::int64_t wanted = std::max(one * whole / context, (whole - context) / 3);
            blocks = std::min(whole, std::max(one, std::min(wanted, most)));
        }
        size.blocks.push_back(blocks);
        size.bytes += blocks * kernels::kvBlockBytes(layout, static_cast<std::int32_t>(g));
    }
    return size;
}

KvSize kvSizeWithin(const kernels::KvLayout& layout, std::span<const KvGroupSpec> groups,
                    const KvDemand& demand, std::int64_t bytes) {
    std::int64_t low = blocksFor(demand.contextTokens);
    std::int64_t high = std::max(low, std::int64_t{std::numeric_limits<std::int32_t>::max()} / 2);
    const auto at = [&](std::int64_t blocks) {
        return kvSizeFor(layout, groups, demand, blocks * kernels::kBlockTokens);
    };
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (at(middle).bytes <= bytes) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return at(low);
}

}  // namespace quern::engine
