#include "engine/core/model_directory.h"

#include <utility>

namespace quern::engine {

Status ModelDirectory::reserve(const std::string& name) {
    const std::lock_guard lock(m_mutex);
    if (m_models.contains(name)) {
        return fail(ErrorCode::kConflict, "a model named " + name + " is loaded");
    }
    if (m_adapters.contains(name)) {
        return fail(ErrorCode::kConflict, "an adapter named " + name + " is loaded");
    }
    if (!m_reserved.insert(name).second) {
        return fail(ErrorCode::kConflict, "a model named " + name + " is being loaded or unloaded");
    }
    return {};
}

void ModelDirectory::release(const std::string& name) {
    const std::lock_guard lock(m_mutex);
    m_reserved.erase(name);
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
        return m_reserved.contains(name)
                   ? fail(ErrorCode::kNotFound, "model " + name + " is being unloaded")
                   : tl::unexpected<Error>(notFound(name));
    }
    std::erase_if(m_adapters, [&](const auto& entry) { return entry.second->model == name; });
    m_reserved.insert(name);
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
    return tl::unexpected<Error>(notFound(name));
}

const LoadedAdapter* ModelDirectory::adapterOf(const std::string& name) const {
    const auto found = m_adapters.find(name);
    return found == m_adapters.end() ? nullptr : found->second.get();
}

Error ModelDirectory::notFound(const std::string& name) const {
    std::string names;
    for (const auto& [other, entry] : m_models) {
        names += (names.empty() ? "" : ", ") + other;
    }
    for (const auto& [other, adapter] : m_adapters) {
        names += ", " + other;
    }
    const std::string loaded = names.empty() ? "no model is loaded" : "loaded: " + names;
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
