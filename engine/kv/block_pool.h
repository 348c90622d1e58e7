#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kv/block_key.h"
#include "engine/kv/prefix_index.h"
#include "engine/snapshot.h"

namespace quern::engine {

/// Who takes a block, for the map of the cache.
struct BlockHolder {
    RequestId request = 0;
    std::uint8_t color = 0;
};

/// The blocks of one group: counts holders, keeps freed blocks findable until they are taken, and
/// logs what changed for readers of the map. Ids only; the memory is the backend's. Every operation
/// is O(1) and allocates nothing. Belongs to one thread at a time.
class BlockPool {
public:
    /// `firstVersion` is above 0; where a pool may take another one's place, it is far above the
    /// versions of that one, so that a reader's old map is not taken for a new one.
    explicit BlockPool(std::int64_t blocks, std::uint64_t firstVersion = 1);

    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(m_blocks.size()); }
    /// Blocks nobody holds: never written, forgotten or cached.
    [[nodiscard]] std::int64_t freeCount() const { return m_free; }
    [[nodiscard]] std::int64_t heldCount() const { return size() - m_free; }
    [[nodiscard]] std::int64_t cachedCount() const { return m_cached; }
    [[nodiscard]] std::int64_t sharedCount() const { return m_shared; }
    [[nodiscard]] std::uint64_t evictions() const { return m_evictions; }
    [[nodiscard]] bool isFree(std::int32_t block) const { return at(block).holders == 0; }

    /// Takes a block for its first holder: one that holds nothing findable if there is one, else
    /// the one that was free longest. −1 when all are held.
    [[nodiscard]] std::int32_t take(const BlockHolder& holder, std::int32_t logicalIndex);
    /// One holder more, of a held block or of a cached one that was found.
    void retain(std::int32_t block, const BlockHolder& holder);
    /// One holder less. The last one leaves it cached if it is findable. Callers release a
    /// sequence's blocks deepest first: then the deepest is taken first.
    void release(std::int32_t block);

    /// Makes a held, full block findable; nothing happens when an equal one is there already.
    /// tokens [kBlockTokens]
    void publish(std::int32_t block, const BlockKey& key, std::span<const TokenId> tokens);
    /// The block with that key and those tokens, or −1. tokens [kBlockTokens]
    [[nodiscard]] std::int32_t find(const BlockKey& key, std::span<const TokenId> tokens) const;
    /// The block with that key, or −1: for a caller that compared the tokens a moment ago.
    [[nodiscard]] std::int32_t findKey(const BlockKey& key) const { return m_index.find(key); }
    /// Makes every cached block plain free; held ones stay findable.
    void forgetCached();

    void noteWrite(std::int32_t block, std::uint32_t step);

    /// Grows with every change of a cell.
    [[nodiscard]] std::uint64_t version() const { return m_version; }
    /// True when the changes since `version` are still known, so that `fold` is cheap.
    [[nodiscard]] bool knowsSince(std::uint64_t version) const;
    /// Applies the changes since map.version, all of which must be known.
    void fold(KvMap& map) const;
    /// Cells [first, first + cells.size()) as they are now.
    void copyCells(std::int64_t first, std::span<BlockCell> cells) const;

private:
    struct Block {
        std::int32_t previous = -1;  // in the free list; −1: none
        std::int32_t next = -1;
        std::uint32_t holders = 0;
        std::uint32_t lastWrite = 0;
        RequestId owner = 0;
        std::int32_t logicalIndex = 0;
        std::uint8_t color = 0;
        bool isFindable = false;
    };

    [[nodiscard]] Block& at(std::int32_t block) {
        return m_blocks[static_cast<std::size_t>(block)];
    }
    [[nodiscard]] const Block& at(std::int32_t block) const {
        return m_blocks[static_cast<std::size_t>(block)];
    }
    [[nodiscard]] BlockCell cell(std::size_t block) const;
    void unlink(std::int32_t block);
    void linkFront(std::int32_t block);
    void linkBack(std::int32_t block);
    void forget(std::int32_t block);
    void changed(std::int32_t block);

    std::vector<Block> m_blocks;
    std::vector<TokenId> m_tokens;  // [blocks, kBlockTokens], of findable blocks
    PrefixIndex m_index;
    std::int32_t m_head = -1;  // free list: taken here …
    std::int32_t m_tail = -1;  // … freed here
    std::int64_t m_free = 0;
    std::int64_t m_cached = 0;
    std::int64_t m_shared = 0;
    std::uint64_t m_evictions = 0;
    std::uint64_t m_version;
    std::vector<std::int32_t> m_changes;  // ring: change v is at v % size
};

}  // namespace quern::engine
