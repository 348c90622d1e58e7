#include "engine/core/kv_sizing.h"

#include <algorithm>
#include <limits>

namespace quern::engine {

namespace {

// Ids of blocks are int32.
constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max() / 2;

/// Blocks of a group of states where the other groups have `whole` blocks together.
std::int64_t stateBlocks(const kernels::KvLayout& layout, std::int32_t group, std::int64_t context,
                         std::int64_t whole, std::int64_t maxRunning) {
    std::int64_t tokenBytes = 0;
    for (std::int32_t g = 0; g < layout.groups; ++g) {
        tokenBytes += kernels::holdsStates(layout, g) ? 0 : kernels::kvBlockBytes(layout, g);
    }
    const std::int64_t one = kStatesPerSequence;
    const std::int64_t most = kStatesPerSequence * maxRunning;
    const std::int64_t sequences = (whole + context - 1) / context;
    const std::int64_t share =
        tokenBytes * (whole - context) / 3 / kernels::kvBlockBytes(layout, group);
    return std::max(one, std::min(most, one * sequences + share));
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
        if (groups[g].isState) {
            blocks = stateBlocks(layout, static_cast<std::int32_t>(g), context, whole,
                                 demand.maxRunning);
        } else if (const std::int64_t window = groups[g].window; window > 0) {
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
    const bool growsByTokens =
        !std::ranges::all_of(groups, [](const KvGroupSpec& group) { return group.isState; });
    std::int64_t high =
        std::max(low, growsByTokens ? kMostBlocks : std::min(low * demand.maxRunning, kMostBlocks));
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
