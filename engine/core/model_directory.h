#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/exec/adapter_maker.h"

namespace quern::engine {

/// The names that requests may use, of models and of their adapters, each once. Internally locked.
class ModelDirectory {
public:
    /// A loaded model and what makes adapters for it (null: it takes none).
    struct Entry {
        std::shared_ptr<const LoadedModel> model;
        std::shared_ptr<const AdapterMaker> adapters;
    };

    /// What a name is kept for that names nothing now.
    enum class Use : std::uint8_t { kAnnounced, kLoadsModel, kLoadsAdapter, kUnloads };

    /// Keeps a name while what it is to name is announced or loaded; one that was announced may be
    /// kept for its load. kConflict when it is taken.
    [[nodiscard]] Status reserve(const std::string& name, Use use);
    /// Ends the keeping: the name names something now, or nothing for good.
    void release(const std::string& name);
    /// Ends a load that failed: a name that was announced is announced again.
    void giveUpLoad(const std::string& name);
    /// As Engine::withdraw.
    void withdraw(const std::string& name);
    /// How far the load is for which the name is kept.
    void note(const std::string& name, const LoadProgress& progress);
    /// As Engine::loading.
    [[nodiscard]] std::vector<LoadingModel> loading() const;

    void add(Entry entry);
    /// Takes a model out, with its adapters, and reserves its name. kNotFound, or kInvalidArgument
    /// for the name of an adapter.
    [[nodiscard]] Result<std::shared_ptr<const LoadedModel>> take(const std::string& name);
    void clear();
    /// By name.
    [[nodiscard]] std::vector<std::shared_ptr<const LoadedModel>> models() const;
    /// As Engine::find.
    [[nodiscard]] Result<Entry> find(const std::string& name) const;

    /// False when `base` is no longer the model of that name.
    [[nodiscard]] bool addAdapter(std::shared_ptr<const LoadedAdapter> adapter,
                                  const std::shared_ptr<const LoadedModel>& base);
    /// Null when there is none of that name.
    [[nodiscard]] std::shared_ptr<const LoadedAdapter> takeAdapter(const std::string& name);
    /// By name.
    [[nodiscard]] std::vector<std::shared_ptr<const LoadedAdapter>> adapters() const;

    /// Makes a request that names an adapter, as its model or beside it, name both; gives the
    /// adapter's id, 0 for none. kNotFound for an adapter that is not there or is another model's,
    /// kUnavailable for one that is not there yet.
    [[nodiscard]] Result<std::uint64_t> resolveAdapter(Request& request) const;

private:
    [[nodiscard]] const LoadedAdapter* adapterOf(const std::string& name) const;
    /// Why a name names nothing.
    [[nodiscard]] Error missing(const std::string& name) const;
    [[nodiscard]] std::string loadingNames() const;

    struct Reservation {
        Use use = Use::kAnnounced;
        bool isAnnounced = false;  // by whatever use it is kept for now
        LoadProgress progress;
    };
    mutable std::mutex m_mutex;
    std::map<std::string, Entry> m_models;
    std::map<std::string, std::shared_ptr<const LoadedAdapter>> m_adapters;
    std::map<std::string, Reservation> m_reserved;
};

}  // namespace quern::engine
