#pragma once

#include <cstdint>
#include <vector>

#include "engine/kv/block_key.h"

namespace quern::engine {

/// Finds a block by its key. Open addressing with linear probing at half load; erasing shifts the
/// run back, so there are no tombstones and no rehashing. Allocates only when made.
/// Belongs to one thread.
class PrefixIndex {
public:
    explicit PrefixIndex(std::int64_t blocks);

    /// The block with that key, or −1.
    [[nodiscard]] std::int32_t find(const BlockKey& key) const;
    /// False when the key is there already: the block stays unknown then.
    bool insert(const BlockKey& key, std::int32_t block);
    /// The block must be in the index.
    void erase(std::int32_t block);

private:
    [[nodiscard]] std::size_t home(const BlockKey& key) const {
        return static_cast<std::size_t>(key.low) & m_mask;
    }

    std::size_t m_mask = 0;
    std::vector<std::int32_t> m_slots;  // block, or −1
    std::vector<BlockKey> m_keys;       // [blocks]
};

}  // namespace quern::engine
