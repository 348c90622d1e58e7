#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/core/model_factory.h"
#include "engine/core/model_runtime.h"
#include "engine/engine.h"

namespace quern::engine {

/// What models hold or were promised, so that two loads do not count on the same free memory: pages
/// of a cache that was not used yet still look free to the system. Internally locked.
class MemoryLedger {
public:
    /// `limitBytes`: of all models together; 0: what the machine has.
    explicit MemoryLedger(std::int64_t limitBytes) : m_limitBytes(limitBytes) {}

    /// Bytes that may still be promised, given what the system says now.
    [[nodiscard]] std::int64_t available(const MemoryFacts& facts,
                                         std::int64_t residentBytes) const;
    /// Sets what a model takes; 0 gives it back.
    void set(const std::string& model, std::int64_t bytes);

private:
    mutable std::mutex m_mutex;
    std::int64_t m_limitBytes;
    std::map<std::string, std::int64_t> m_bytes;
};

/// What a load gave, ready for the engine thread.
struct LoadResult {
    std::shared_ptr<const LoadedModel> model;
    std::unique_ptr<ModelRuntime> runtime;
    std::shared_ptr<const AdapterMaker> adapters;  // null: the model takes none
};

/// Opens, checks and takes over one model. `queued` is handed to the runtime. The caller has the
/// name reserved. Any thread.
[[nodiscard]] Result<LoadResult> loadModel(ModelFactory& factory, MemoryLedger& ledger,
                                           const LoadOptions& options,
                                           const std::function<bool(const LoadProgress&)>& progress,
                                           std::atomic<std::size_t>* queued);

}  // namespace quern::engine
