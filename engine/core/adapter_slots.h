#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/adapter.h"
#include "engine/exec/runner.h"
#include "engine/snapshot.h"

namespace quern::engine {

/// An adapter on its way to the engine thread.
struct AdapterHandover {
    std::shared_ptr<const LoadedAdapter> adapter;
    std::unique_ptr<const kernels::Adapter> program;
    std::shared_ptr<void> lease;  // of its memory: given back with the last copy
};

/// The adapters of one model and who has them. One that is unloaded stays until the last request
/// that has it ended. Belongs to the engine thread; snapshots are taken under its lock.
class AdapterSlots {
public:
    /// `runner` must outlive it.
    explicit AdapterSlots(Runner& runner) : m_runner(runner) {}

    /// What a sequence with an adapter is told apart by.
    struct Use {
        std::int32_t slot = -1;  // of the runner's; −1: none
        std::string key;         // of the prefix cache: another load of the same name has another
    };

    void add(AdapterHandover handover);
    /// Takes no further users. Unknown ids are ignored.
    void remove(std::uint64_t id);
    /// One more user of an adapter; absent where it is unknown or was removed.
    [[nodiscard]] std::optional<Use> enter(std::uint64_t id);
    /// One user less. −1 is ignored.
    void leave(std::int32_t slot);

    [[nodiscard]] std::vector<AdapterSnapshot> snapshot() const;

private:
    struct Slot {
        std::shared_ptr<const LoadedAdapter> adapter;  // null: free
        std::shared_ptr<void> lease;
        std::int32_t users = 0;
        bool isLeaving = false;
    };
    [[nodiscard]] std::vector<Slot>::iterator find(std::uint64_t id);
    void freeIfUnused(std::vector<Slot>::iterator slot);

    Runner& m_runner;
    std::vector<Slot> m_slots;  // by the runner's slots
};

}  // namespace quern::engine
