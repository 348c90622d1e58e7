#include "engine/kv/prefix_index.h"

#include <bit>

namespace quern::engine {

PrefixIndex::PrefixIndex(std::int64_t blocks) {
    const auto count = static_cast<std::size_t>(blocks);
    m_slots.assign(std::bit_ceil(2 * count + 1), -1);
    m_mask = m_slots.size() - 1;
    m_keys.resize(count);
}

std::int32_t PrefixIndex::find(const BlockKey& key) const {
    for (std::size_t slot = home(key);; slot = (slot + 1) & m_mask) {
        const std::int32_t block = m_slots[slot];
        if (block < 0 || m_keys[static_cast<std::size_t>(block)] == key) {
            return block;
        }
    }
}

bool PrefixIndex::insert(const BlockKey& key, std::int32_t block) {
    std::size_t slot = home(key);
    for (; m_slots[slot] >= 0; slot = (slot + 1) & m_mask) {
        if (m_keys[static_cast<std::size_t>(m_slots[slot])] == key) {
            return false;
        }
    }
    m_slots[slot] = block;
    m_keys[static_cast<std::size_t>(block)] = key;
    return true;
}

void PrefixIndex::erase(std::int32_t block) {
    std::size_t hole = home(m_keys[static_cast<std::size_t>(block)]);
    while (m_slots[hole] != block) {
        hole = (hole + 1) & m_mask;
    }
    // Move later entries of the run into the hole unless that would put them before their home.
    for (std::size_t slot = (hole + 1) & m_mask; m_slots[slot] >= 0; slot = (slot + 1) & m_mask) {
        const std::size_t wanted = home(m_keys[static_cast<std::size_t>(m_slots[slot])]);
        if (((slot - wanted) & m_mask) >= ((slot - hole) & m_mask)) {
            m_slots[hole] = m_slots[slot];
            hole = slot;
        }
    }
    m_slots[hole] = -1;
}

}  // namespace quern::engine
