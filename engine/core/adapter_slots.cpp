#include "engine/core/adapter_slots.h"

#include <algorithm>
#include <utility>

namespace quern::engine {

std::vector<AdapterSlots::Slot>::iterator AdapterSlots::find(std::uint64_t id) {
    return std::ranges::find_if(
        m_slots, [id](const Slot& slot) { return slot.adapter && slot.adapter->id == id; });
}

void AdapterSlots::add(AdapterHandover handover) {
    auto slot =
        std::ranges::find_if(m_slots, [](const Slot& one) { return one.adapter == nullptr; });
    if (slot == m_slots.end()) {
        slot = m_slots.insert(m_slots.end(), Slot{});
    }
    m_runner.setAdapter(static_cast<std::int32_t>(slot - m_slots.begin()),
                        std::move(handover.program));
    slot->adapter = std::move(handover.adapter);
    slot->lease = std::move(handover.lease);
}

void AdapterSlots::remove(std::uint64_t id) {
    if (const auto slot = find(id); slot != m_slots.end()) {
        slot->isLeaving = true;
        freeIfUnused(slot);
    }
}

std::optional<AdapterSlots::Use> AdapterSlots::enter(std::uint64_t id) {
    const auto slot = find(id);
    if (slot == m_slots.end() || slot->isLeaving) {
        return std::nullopt;
    }
    ++slot->users;
    return Use{.slot = static_cast<std::int32_t>(slot - m_slots.begin()),
               .key = std::to_string(id) + ' ' + slot->adapter->name};
}

void AdapterSlots::leave(std::int32_t index) {
    if (index >= 0) {
        const auto slot = m_slots.begin() + index;
        --slot->users;
        freeIfUnused(slot);
    }
}

void AdapterSlots::freeIfUnused(std::vector<Slot>::iterator slot) {
    if (slot->isLeaving && slot->users == 0) {
        m_runner.setAdapter(static_cast<std::int32_t>(slot - m_slots.begin()), nullptr);
        *slot = Slot{};
    }
}

std::vector<AdapterSnapshot> AdapterSlots::snapshot() const {
    std::vector<AdapterSnapshot> adapters;
    for (const Slot& slot : m_slots) {
        if (slot.adapter) {
            adapters.push_back({.name = slot.adapter->name,
                                .bytes = slot.adapter->heldBytes,
                                .isLeaving = slot.isLeaving});
        }
    }
    return adapters;
}

}  // namespace quern::engine
