#include "engine/kv/kv_manager.h"

#include <algorithm>

#include "kernels/paged_kv.h"

namespace quern::engine {

namespace {

std::span<const TokenId> blockTokens(std::span<const TokenId> tokens, std::int64_t block) {
    return tokens.subspan(static_cast<std::size_t>(block * kernels::kBlockTokens),
                          static_cast<std::size_t>(kernels::kBlockTokens));
}

}  // namespace

std::int64_t SequenceKv::heldBlocks() const {
    std::int64_t held = 0;
    for (const Group& group : groups) {
        held += group.held;
    }
    return held;
}

KvManager::KvManager(std::span<const KvGroupConfig> groups, bool isPrefixCaching,
                     std::uint64_t firstVersion)
    : m_isPrefixCaching(isPrefixCaching) {
    m_groups.reserve(groups.size());
    for (const KvGroupConfig& group : groups) {
        m_groups.push_back(Group{.pool = BlockPool(group.blocks, firstVersion), .config = group});
    }
}

bool KvManager::isIdle() const {
    return std::all_of(m_groups.begin(), m_groups.end(),
                       [](const Group& group) { return group.pool.heldCount() == 0; });
}

std::uint64_t KvManager::evictions() const {
    std::uint64_t sum = 0;
    for (const Group& group : m_groups) {
        sum += group.pool.evictions();
    }
    return sum;
}

SequenceKv KvManager::open(std::string_view salt, std::string_view adapter,
                           const BlockHolder& holder) const {
    SequenceKv sequence;
    sequence.groups.resize(m_groups.size());
    sequence.root = rootKey(salt, adapter);
    sequence.holder = holder;
    return sequence;
}

void KvManager::fillKeys(SequenceKv& sequence, std::span<const TokenId> tokens,
                         std::int64_t blocks) const {
    for (auto block = static_cast<std::int64_t>(sequence.keys.size()); block < blocks; ++block) {
        const BlockKey& parent = block == 0 ? sequence.root : sequence.keys.back();
        sequence.keys.push_back(childKey(parent, blockTokens(tokens, block)));
    }
}

std::int64_t KvManager::longestIn(const Group& group, const SequenceKv& sequence,
                                  std::span<const TokenId> tokens, std::int64_t blocks) const {
    const auto isCached = [&](std::int64_t block) {
        return group.pool.find(sequence.keys[static_cast<std::size_t>(block)],
                               blockTokens(tokens, block)) >= 0;
    };
    if (group.config.window == 0 && !group.config.isState) {
        std::int64_t length = 0;
        while (length < blocks && isCached(length)) {
            ++length;
        }
        return length;
    }
    // From the end: a run of cached blocks that covers the window of the token after it.
    std::int64_t end = blocks;
    for (std::int64_t block = blocks - 1; block >= 0; --block) {
        if (!isCached(block)) {
            end = block;
        } else if (block <= firstVisibleBlock(group.config, end * kernels::kBlockTokens)) {
            return end;
        }
    }
    return 0;
}

std::int64_t KvManager::findPrefix(SequenceKv& sequence, std::span<const TokenId> tokens,
                                   std::int64_t limit) const {
    if (!m_isPrefixCaching) {
        return 0;
    }
    std::int64_t blocks =
        std::min(limit, static_cast<std::int64_t>(tokens.size())) / kernels::kBlockTokens;
    if (blocks <= 0) {
        return 0;
    }
    fillKeys(sequence, tokens, blocks);
    // A shorter prefix may fail in a group that a longer one passed, so ask until all agree.
    bool isSettled = false;
    while (!isSettled && blocks > 0) {
        isSettled = true;
        for (const Group& group : m_groups) {
            const std::int64_t length = longestIn(group, sequence, tokens, blocks);
            isSettled = isSettled && length == blocks;
            blocks = length;
        }
    }
    return blocks * kernels::kBlockTokens;
}

std::optional<KvShortage> KvManager::admit(SequenceKv& sequence, const KvRoom& room) {
    const std::int64_t hitBlocks = room.begin / kernels::kBlockTokens;
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const Group& group = m_groups[g];
        std::int64_t needed = missingBlocks(group.config, hitBlocks, room);
        for (std::int64_t b = firstVisibleBlock(group.config, room.begin); b < hitBlocks; ++b) {
            const std::int32_t block =
                group.pool.findKey(sequence.keys[static_cast<std::size_t>(b)]);
            needed += group.pool.isFree(block) ? 1 : 0;
        }
        if (needed + room.spare > group.pool.freeCount()) {
            return KvShortage{.group = static_cast<std::int32_t>(g),
                              .needed = needed + room.spare,
                              .free = group.pool.freeCount()};
        }
    }
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        Group& group = m_groups[g];
        SequenceKv::Group& held = sequence.groups[g];
        const std::int64_t first = firstVisibleBlock(group.config, room.begin);
        held.firstHeld = static_cast<std::int32_t>(first);
        held.table.assign(static_cast<std::size_t>(first), -1);
        for (std::int64_t b = first; b < hitBlocks; ++b) {
            const std::int32_t block =
                group.pool.findKey(sequence.keys[static_cast<std::size_t>(b)]);
            group.pool.retain(block, sequence.holder);
            held.table.push_back(block);
            ++held.held;
        }
    }
    sequence.published = static_cast<std::int32_t>(hitBlocks);
    return extend(sequence, room);
}

std::optional<KvShortage> KvManager::extend(SequenceKv& sequence, const KvRoom& room) {
    freeBehindWindow(sequence, room.begin);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const Group& group = m_groups[g];
        const std::int64_t needed = missingBlocks(
            group.config, static_cast<std::int64_t>(sequence.groups[g].table.size()), room);
        if (needed > 0 && needed + room.spare > group.pool.freeCount()) {
            return KvShortage{.group = static_cast<std::int32_t>(g),
                              .needed = needed + room.spare,
                              .free = group.pool.freeCount()};
        }
    }
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        grow(g, sequence, room);
    }
    return std::nullopt;
}

void KvManager::grow(std::size_t index, SequenceKv& sequence, const KvRoom& room) {
    Group& group = m_groups[index];
    SequenceKv::Group& held = sequence.groups[index];
    const std::int64_t wanted = wantedBlocks(group.config, room);
    for (auto block = static_cast<std::int64_t>(held.table.size()); block < wanted; ++block) {
        // The last block comes first in need: a snapshot may not take what is left for it.
        const bool isTaken = !group.config.isState || block + 1 == wanted ||
                             (m_isPrefixCaching && isSnapshotWanted(block, room) &&
                              group.pool.freeCount() > room.spare + 1);
        held.table.push_back(
            isTaken ? group.pool.take(sequence.holder, static_cast<std::int32_t>(block)) : -1);
        held.held += isTaken ? 1 : 0;
    }
}

void KvManager::written(SequenceKv& sequence, std::span<const TokenId> tokens, std::int64_t begin,
                        std::int64_t end, std::uint32_t step) {
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const SequenceKv::Group& held = sequence.groups[g];
        for (std::int64_t b = std::max<std::int64_t>(begin / kernels::kBlockTokens, held.firstHeld);
             b < blocksFor(end); ++b) {
            if (const std::int32_t block = held.table[static_cast<std::size_t>(b)]; block >= 0) {
                m_groups[g].pool.noteWrite(block, step);
            }
        }
    }
    if (!m_isPrefixCaching) {
        return;
    }
    const std::int64_t fullBlocks = end / kernels::kBlockTokens;
    fillKeys(sequence, tokens, fullBlocks);
    for (std::int64_t b = sequence.published; b < fullBlocks; ++b) {
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            const SequenceKv::Group& held = sequence.groups[g];
            if (b >= held.firstHeld && held.table[static_cast<std::size_t>(b)] >= 0) {
                m_groups[g].pool.publish(held.table[static_cast<std::size_t>(b)],
                                         sequence.keys[static_cast<std::size_t>(b)],
                                         blockTokens(tokens, b));
            }
        }
    }
    sequence.published = std::max(sequence.published, static_cast<std::int32_t>(fullBlocks));
}

std::optional<KvShortage> KvManager::fork(const SequenceKv& parent, SequenceKv& child,
                                          std::int64_t tokens, std::vector<KvCopy>& copies) {
    const std::int64_t fullBlocks = tokens / kernels::kBlockTokens;
    const bool hasPartial = tokens % kernels::kBlockTokens != 0;
    if (hasPartial) {
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            if (m_groups[g].pool.freeCount() < 1) {
                return KvShortage{.group = static_cast<std::int32_t>(g), .needed = 1, .free = 0};
            }
        }
    }
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        BlockPool& pool = m_groups[g].pool;
        const SequenceKv::Group& from = parent.groups[g];
        SequenceKv::Group& to = child.groups[g];
        to.firstHeld = from.firstHeld;
        to.table.assign(from.table.begin(),
                        from.table.begin() + static_cast<std::ptrdiff_t>(fullBlocks));
        for (std::int64_t b = to.firstHeld; b < fullBlocks; ++b) {
            if (const std::int32_t block = to.table[static_cast<std::size_t>(b)]; block >= 0) {
                pool.retain(block, child.holder);
                ++to.held;
            }
        }
        if (hasPartial) {
            const std::int32_t copy =
                pool.take(child.holder, static_cast<std::int32_t>(fullBlocks));
            to.table.push_back(copy);
            ++to.held;
            copies.push_back(KvCopy{.group = static_cast<std::int32_t>(g),
                                    .from = from.table[static_cast<std::size_t>(fullBlocks)],
                                    .to = copy});
        }
    }
    child.keys = parent.keys;
    child.keys.resize(std::min(parent.keys.size(), static_cast<std::size_t>(fullBlocks)));
    child.published = std::min(parent.published, static_cast<std::int32_t>(fullBlocks));
    return std::nullopt;
}

void KvManager::release(SequenceKv& sequence) {
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        SequenceKv::Group& held = sequence.groups[g];
        for (auto b = static_cast<std::int64_t>(held.table.size()) - 1; b >= held.firstHeld; --b) {
            if (const std::int32_t block = held.table[static_cast<std::size_t>(b)]; block >= 0) {
                m_groups[g].pool.release(block);
            }
        }
        held.table.clear();
        held.firstHeld = 0;
        held.held = 0;
    }
    sequence.published = 0;
}

void KvManager::forgetCached() {
    for (Group& group : m_groups) {
        group.pool.forgetCached();
    }
}

void KvManager::freeBehindWindow(SequenceKv& sequence, std::int64_t position) {
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        SequenceKv::Group& held = sequence.groups[g];
        const std::int64_t first = std::min(firstVisibleBlock(m_groups[g].config, position),
                                            static_cast<std::int64_t>(held.table.size()));
        for (; held.firstHeld < first; ++held.firstHeld) {
            std::int32_t& block = held.table[static_cast<std::size_t>(held.firstHeld)];
            if (block >= 0) {
                m_groups[g].pool.release(block);
                --held.held;
            }
            block = -1;
        }
    }
}

}  // namespace quern::engine
