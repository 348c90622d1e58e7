#include "engine/core/model_directory.h"

#include <utility>

namespace quern::engine {

namespace {

bool comes(ModelDirectory::Use use) {
    return use != ModelDirectory::Use::kUnloads;
}

// "weights, 43 %"
std::string progressText(const LoadProgress& progress) {
    return std::string(stageName(progress.stage)) + ", " +
           std::to_string(static_cast<int>(progress.fraction * 100)) + " %";
}

}  // namespace

Status ModelDirectory::reserve(const std::string& name, Use use) {
    const std::lock_guard lock(m_mutex);
    if (m_models.contains(name)) {
        return fail(ErrorCode::kConflict, "a model named " + name + " is loaded");
    }
    if (m_adapters.contains(name)) {
        return fail(ErrorCode::kConflict, "an adapter named " + name + " is loaded");
    }
    const auto [kept, isNew] = m_reserved.try_emplace(
        name, Reservation{.use = use, .isAnnounced = use == Use::kAnnounced});
    if (!isNew && (kept->second.use != Use::kAnnounced || use == Use::kAnnounced)) {
        return fail(ErrorCode::kConflict, "a model named " + name + " is being loaded or unloaded");
    }
    kept->second.use = use;
    return {};
}

void ModelDirectory::release(const std::string& name) {
    const std::lock_guard lock(m_mutex);
    m_reserved.erase(name);
}

void ModelDirectory::giveUpLoad(const std::string& name) {
    const std::lock_guard lock(m_mutex);
    const auto kept = m_reserved.find(name);
    if (kept == m_reserved.end()) {
        return;
    }
    if (kept->second.isAnnounced) {
        kept->second = {.use = Use::kAnnounced, .isAnnounced = true};
    } else {
        m_reserved.erase(kept);
    }
}

void ModelDirectory::withdraw(const std::string& name) {
    const std::lock_guard lock(m_mutex);
    const auto kept = m_reserved.find(name);
    if (kept != m_reserved.end() && kept->second.use == Use::kAnnounced) {
        m_reserved.erase(kept);
    }
}

void ModelDirectory::note(const std::string& name, const LoadProgress& progress) {
    const std::lock_guard lock(m_mutex);
    if (const auto kept = m_reserved.find(name); kept != m_reserved.end()) {
        kept->second.progress = progress;
    }
}

std::vector<LoadingModel> ModelDirectory::loading() const {
    const std::lock_guard lock(m_mutex);
    std::vector<LoadingModel> loading;
    for (const auto& [name, kept] : m_reserved) {
        if (kept.use == Use::kAnnounced) {
            loading.push_back({.name = name, .progress = {}});
        } else if (comes(kept.use)) {
            loading.push_back({.name = name, .progress = kept.progress});
        }
    }
    return loading;
}

void ModelDirectory::add(Entry entry) {
    const std::lock_guard lock(m_mutex);
    const std::string name = entry.model->name;
    m_models.insert_or_assign(name, std::move(entry));
}

Result<std::shared_ptr<const LoadedModel>> ModelDirectory::take(const std::string& asked) {
    const std::lock_guard lock(m_mutex);
    if (const LoadedAdapter* adapter = adapterOf(asked)) {
        return fail(ErrorCode::kInvalidArgument,
                    asked + " is an adapter of model " + adapter->model + ", not a model");
    }
    const std::string name =
        asked.empty() && m_models.size() == 1 ? m_models.begin()->first : asked;
    const auto node = m_models.extract(name);
    if (node.empty()) {
        return tl::unexpected<Error>(missing(name));
    }
    std::erase_if(m_adapters, [&](const auto& entry) { return entry.second->model == name; });
    m_reserved.insert_or_assign(name, Reservation{.use = Use::kUnloads});
    return node.mapped().model;
}

void ModelDirectory::clear() {
    const std::lock_guard lock(m_mutex);
    m_models.clear();
    m_adapters.clear();
}

std::vector<std::shared_ptr<const LoadedModel>> ModelDirectory::models() const {
    const std::lock_guard lock(m_mutex);
    std::vector<std::shared_ptr<const LoadedModel>> models;
    for (const auto& [name, entry] : m_models) {
        models.push_back(entry.model);
    }
    return models;
}

Result<ModelDirectory::Entry> ModelDirectory::find(const std::string& name) const {
    const std::lock_guard lock(m_mutex);
    if (name.empty() && m_models.size() == 1) {
        return m_models.begin()->second;
    }
    const LoadedAdapter* adapter = adapterOf(name);
    if (const auto found = m_models.find(adapter != nullptr ? adapter->model : name);
        found != m_models.end()) {
        return found->second;
    }
    return tl::unexpected<Error>(missing(name));
}

const LoadedAdapter* ModelDirectory::adapterOf(const std::string& name) const {
    const auto found = m_adapters.find(name);
    return found == m_adapters.end() ? nullptr : found->second.get();
}

std::string ModelDirectory::loadingNames() const {
    std::string names;
    for (const auto& [name, kept] : m_reserved) {
        if (comes(kept.use)) {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    return names;
}

Error ModelDirectory::missing(const std::string& name) const {
    const auto kept = m_reserved.find(name);
    if (kept != m_reserved.end() && comes(kept->second.use)) {
        const Use use = kept->second.use;
        const std::string how = use == Use::kAnnounced ? " waits to be loaded" : " is loading";
        const std::string far = use == Use::kLoadsModel
                                    ? " (" + progressText(kept->second.progress) + ")"
                                    : std::string();
        return {.code = ErrorCode::kUnavailable,
                .message = "model " + name + how + far + "; try again soon",
                .cause = {},
                .field = "model"};
    }
    const std::string coming = loadingNames();
    if (name.empty() && m_models.empty() && !coming.empty()) {
        return {.code = ErrorCode::kUnavailable,
                .message = "no model is loaded yet; loading: " + coming + "; try again soon",
                .cause = {},
                .field = "model"};
    }
    std::string names;
    for (const auto& [other, entry] : m_models) {
        names += (names.empty() ? "" : ", ") + other;
    }
    for (const auto& [other, adapter] : m_adapters) {
        names += ", " + other;
    }
    const std::string loaded = (names.empty() ? "no model is loaded" : "loaded: " + names) +
                               (coming.empty() ? "" : "; loading: " + coming);
    return {.code = ErrorCode::kNotFound,
            .message = name.empty() ? "no model was named; " + loaded
                                    : "there is no model named " + name + "; " + loaded,
            .cause = {},
            .field = "model"};
}

bool ModelDirectory::addAdapter(std::shared_ptr<const LoadedAdapter> adapter,
                                const std::shared_ptr<const LoadedModel>& base) {
    const std::lock_guard lock(m_mutex);
    const auto model = m_models.find(base->name);
    if (model == m_models.end() || model->second.model != base) {
        return false;
    }
    const std::string name = adapter->name;
    m_adapters.insert_or_assign(name, std::move(adapter));
    return true;
}

std::shared_ptr<const LoadedAdapter> ModelDirectory::takeAdapter(const std::string& name) {
    const std::lock_guard lock(m_mutex);
    const auto node = m_adapters.extract(name);
    return node.empty() ? nullptr : node.mapped();
}

std::vector<std::shared_ptr<const LoadedAdapter>> ModelDirectory::adapters() const {
    const std::lock_guard lock(m_mutex);
    std::vector<std::shared_ptr<const LoadedAdapter>> adapters;
    for (const auto& [name, adapter] : m_adapters) {
        adapters.push_back(adapter);
    }
    return adapters;
}

Result<std::uint64_t> ModelDirectory::resolveAdapter(Request& request) const {
    const std::lock_guard lock(m_mutex);
    if (const LoadedAdapter* asModel = adapterOf(request.model);
        asModel != nullptr && request.adapter.empty()) {
        request.adapter = asModel->name;
        request.model = asModel->model;
        return asModel->id;
    }
    if (request.adapter.empty()) {
        return 0;
    }
    const LoadedAdapter* adapter = adapterOf(request.adapter);
    if (adapter == nullptr) {
        if (const auto kept = m_reserved.find(request.adapter);
            kept != m_reserved.end() && comes(kept->second.use)) {
            return failField("adapter", "adapter " + request.adapter + " is loading",
                             ErrorCode::kUnavailable);
        }
        return failField("adapter", "there is no adapter named " + request.adapter,
                         ErrorCode::kNotFound);
    }
    if (!request.model.empty() && request.model != adapter->model) {
        return failField("adapter",
                         "adapter " + adapter->name + " is one of model " + adapter->model +
                             ", not of " + request.model,
                         ErrorCode::kNotFound);
    }
    request.model = adapter->model;
    return adapter->id;
}

}  // namespace quern::engine
