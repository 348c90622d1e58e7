#pragma once

#include "app/library/model_library.h"
#include "engine/engine.h"
#include "ui/ports/model_library.h"

namespace quern::app {

/// The window's view of the model library: its entries, each with what the file says of itself.
/// Belongs to one worker thread.
class ShelvedModels : public ui::ModelLibrary {
public:
    /// `engine` tells what memory is free; it must outlive this.
    ShelvedModels(const DataFolders& folders, const engine::Engine& engine)
        : m_folders(folders), m_library(folders), m_engine(engine) {}

    [[nodiscard]] Result<std::vector<ui::LibraryModel>> list() override;
    [[nodiscard]] Status add(const std::filesystem::path& model) override;
    [[nodiscard]] Status forget(const std::filesystem::path& model) override;
    [[nodiscard]] Result<engine::FitEstimate> estimate(const engine::LoadOptions& options) override;
    [[nodiscard]] std::filesystem::path folder() const override { return m_folders.models(); }

private:
    DataFolders m_folders;
    app::ModelLibrary m_library;
    const engine::Engine& m_engine;
};

}  // namespace quern::app
