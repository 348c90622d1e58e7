#include "engine/kv/block_pool.h"

#include <algorithm>
#include <limits>

#include "kernels/paged_kv.h"

namespace quern::engine {

namespace {

// A reader at 30 Hz sees about this many changes between two looks at most; one that is further
// behind copies the whole map.
constexpr std::size_t kChangeRing = 16384;

std::size_t tokenOffset(std::int32_t block) {
    return static_cast<std::size_t>(block) * kernels::kBlockTokens;
}

}  // namespace

BlockPool::BlockPool(std::int64_t blocks, std::uint64_t firstVersion)
    : m_blocks(static_cast<std::size_t>(blocks)),
      m_tokens(static_cast<std::size_t>(blocks) * kernels::kBlockTokens),
      m_index(blocks),
      m_version(firstVersion),
      m_changes(kChangeRing, -1) {
    for (std::int32_t block = 0; block < blocks; ++block) {
        linkBack(block);
    }
    m_free = blocks;
}

std::int32_t BlockPool::take(const BlockHolder& holder, std::int32_t logicalIndex) {
    const std::int32_t block = m_head;
    if (block < 0) {
        return -1;
    }
    if (at(block).isFindable) {
        forget(block);
        ++m_evictions;
    }
    unlink(block);
    --m_free;
    Block& taken = at(block);
    taken.holders = 1;
    taken.owner = holder.request;
    taken.color = holder.color;
    taken.logicalIndex = logicalIndex;
    changed(block);
    return block;
}

void BlockPool::retain(std::int32_t block, const BlockHolder& holder) {
    Block& held = at(block);
    if (held.holders == 0) {
        unlink(block);
        --m_free;
        m_cached -= held.isFindable ? 1 : 0;
        held.owner = holder.request;
        held.color = holder.color;
    } else if (held.holders == 1) {
        ++m_shared;
    }
    ++held.holders;
    changed(block);
}

void BlockPool::release(std::int32_t block) {
    Block& held = at(block);
    --held.holders;
    if (held.holders == 1) {
        --m_shared;
    } else if (held.holders == 0) {
        ++m_free;
        if (held.isFindable) {
            ++m_cached;
            linkBack(block);
        } else {
            linkFront(block);
        }
    }
    changed(block);
}

void BlockPool::publish(std::int32_t block, const BlockKey& key, std::span<const TokenId> tokens) {
    Block& full = at(block);
    if (full.isFindable || !m_index.insert(key, block)) {
        return;
    }
    full.isFindable = true;
    std::copy_n(tokens.begin(), kernels::kBlockTokens,
                m_tokens.begin() + static_cast<std::ptrdiff_t>(tokenOffset(block)));
}

std::int32_t BlockPool::find(const BlockKey& key, std::span<const TokenId> tokens) const {
    const std::int32_t block = m_index.find(key);
    if (block < 0 ||
        !std::equal(tokens.begin(), tokens.begin() + kernels::kBlockTokens,
                    m_tokens.begin() + static_cast<std::ptrdiff_t>(tokenOffset(block)))) {
        return -1;
    }
    return block;
}

void BlockPool::forgetCached() {
    for (std::int32_t block = m_head; block >= 0; block = at(block).next) {
        if (at(block).isFindable) {
            forget(block);
            changed(block);
        }
    }
}

void BlockPool::noteWrite(std::int32_t block, std::uint32_t step) {
    at(block).lastWrite = step;
    changed(block);
}

bool BlockPool::knowsSince(std::uint64_t version) const {
    return version != 0 && version <= m_version && m_version - version <= m_changes.size();
}

void BlockPool::fold(KvMap& map) const {
    for (std::uint64_t v = map.version; v < m_version; ++v) {
        const auto block = static_cast<std::size_t>(m_changes[v % m_changes.size()]);
        map.cells[block] = cell(block);
    }
    map.version = m_version;
}

void BlockPool::copyCells(std::int64_t first, std::span<BlockCell> cells) const {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i] = cell(static_cast<std::size_t>(first) + i);
    }
}

BlockCell BlockPool::cell(std::size_t index) const {
    const Block& block = m_blocks[index];
    BlockCell cell;
    if (block.holders == 0) {
        cell.state = block.isFindable ? BlockState::kCached : BlockState::kFree;
    } else {
        cell.state = block.holders == 1 ? BlockState::kHeld : BlockState::kShared;
    }
    cell.color = block.color;
    cell.sharers = static_cast<std::uint16_t>(
        std::min<std::uint32_t>(block.holders, std::numeric_limits<std::uint16_t>::max()));
    cell.lastWrite = block.lastWrite;
    cell.owner = block.owner;
    cell.logicalIndex = block.logicalIndex;
    return cell;
}

void BlockPool::unlink(std::int32_t block) {
    Block& gone = at(block);
    (gone.previous >= 0 ? at(gone.previous).next : m_head) = gone.next;
    (gone.next >= 0 ? at(gone.next).previous : m_tail) = gone.previous;
    gone.previous = -1;
    gone.next = -1;
}

void BlockPool::linkFront(std::int32_t block) {
    at(block).next = m_head;
    (m_head >= 0 ? at(m_head).previous : m_tail) = block;
    m_head = block;
}

void BlockPool::linkBack(std::int32_t block) {
    at(block).previous = m_tail;
    (m_tail >= 0 ? at(m_tail).next : m_head) = block;
    m_tail = block;
}

void BlockPool::forget(std::int32_t block) {
    m_index.erase(block);
    at(block).isFindable = false;
    --m_cached;
}

void BlockPool::changed(std::int32_t block) {
    m_changes[m_version % m_changes.size()] = block;
    ++m_version;
}

}  // namespace quern::engine
