#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kv/group_rules.h"
#include "engine/model/forward.h"
#include "kernels/paged_kv.h"

namespace quern::engine {

/// What a cache must be able to hold.
struct KvDemand {
    std::int64_t contextTokens = 0;
    std::int64_t stepTokens = 0;
    std::int64_t maxRunning = 0;
};

struct KvSize {
    std::vector<std::int64_t> blocks;  // [groups]
    std::int64_t bytes = 0;
    std::int64_t tokens = 0;  // over all sequences
};

/// The cache in which `tokens` tokens (at least one context) have room, over all sequences
/// together. A group with a window gets what as many full contexts need of it, and for every three
/// blocks beyond one context a block more, because many short sequences fill their windows too; but
/// no more than all sequences can hold at the same time. A group of states gets what as many
/// sequences need, and up to a third of the bytes beyond one context for more of them.
[[nodiscard]] KvSize kvSizeFor(const kernels::KvLayout& layout, std::span<const KvGroupSpec> groups,
                               const KvDemand& demand, std::int64_t tokens);

/// The largest such cache of at most `bytes`, but never smaller than one full context: callers
/// compare its bytes with what they have. Where no group grows with tokens, what all that run can
/// use is enough.
[[nodiscard]] KvSize kvSizeWithin(const kernels::KvLayout& layout,
                                  std::span<const KvGroupSpec> groups, const KvDemand& demand,
                                  std::int64_t bytes);

}  // namespace quern::engine
