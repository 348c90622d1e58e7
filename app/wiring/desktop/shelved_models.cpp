#include "app/wiring/desktop/shelved_models.h"

#include <algorithm>

namespace quern::app {
namespace {

ui::LibraryModel shelved(const LibraryModel& model, bool isAdded) {
    ui::LibraryModel shown;
    Result<engine::ModelInfo> info = engine::inspectModel(model.path);
    if (info) {
        shown.info = std::move(*info);
        shown.info.tensors.clear();
    } else {
        shown.problem = info.error().message;
    }
    shown.info.path = model.path;
    if (shown.info.name.empty()) {
        shown.info.name = model.name;
    }
    shown.source = model.origin;
    shown.isInPlace = model.isLinked;
    shown.isAdded = isAdded;
    return shown;
}

/// Whether `path` lies in `folder`, links followed.
bool liesIn(const std::filesystem::path& path, const std::filesystem::path& folder) {
    std::error_code error;
    const auto file = std::filesystem::weakly_canonical(path, error);
    const auto top = std::filesystem::weakly_canonical(folder, error);
    return std::mismatch(top.begin(), top.end(), file.begin(), file.end()).first == top.end();
}

}  // namespace

Result<std::vector<ui::LibraryModel>> ShelvedModels::list() {
    Result<std::vector<LibraryModel>> own = m_library.list();
    if (!own) {
        return forward(own);
    }
    std::vector<ui::LibraryModel> models;
    for (const LibraryModel& model : *own) {
        models.push_back(shelved(model, true));
    }
    for (const LibraryModel& model : m_library.findElsewhere()) {
        models.push_back(shelved(model, false));
    }
    return models;
}

Status ShelvedModels::add(const std::filesystem::path& model) {
    Result<engine::ModelInfo> info = engine::inspectModel(model);
    if (!info) {
        return forward(info);
    }
    if (liesIn(model, m_folders.models())) {
        return {};
    }
    auto linked = m_library.link(model);
    return linked ? Status() : forward(linked);
}

Status ShelvedModels::forget(const std::filesystem::path& model) {
    Result<std::vector<LibraryModel>> own = m_library.list();
    if (!own) {
        return forward(own);
    }
    for (const LibraryModel& known : *own) {
        if (known.path == model && known.isLinked) {
            return m_library.remove(known.name);
        }
    }
    return fail(ErrorCode::kNotFound, "no model was added in place at " + model.string());
}

Result<engine::FitEstimate> ShelvedModels::estimate(const engine::LoadOptions& options) {
    Result<engine::ModelInfo> info = engine::inspectModel(options.path);
    if (!info) {
        return forward(info);
    }
    return engine::estimateFit(*info, options, m_engine.snapshot().memory.freeBytes);
}

}  // namespace quern::app
