#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/model_info.h"

namespace quern::ui {

/// A model on this machine, loaded or not.
struct LibraryModel {
    engine::ModelInfo info;  // `tensors` may be left empty
    std::string source;      // where it was found: "models folder", "Ollama", "added by hand"
    bool isInPlace = false;  // belongs to another program or folder: never deleted by us
    bool isAdded = true;     // false: found elsewhere, offered to be added in place
    std::string problem;     // why it cannot be read; empty when it can
};

/// The models of this machine. Called from one worker thread, never the GUI's.
class ModelLibrary {
public:
    virtual ~ModelLibrary() = default;
    /// What is in the models folder, was added in place, or was found in other programs' folders.
    [[nodiscard]] virtual Result<std::vector<LibraryModel>> list() = 0;
    /// Makes a file or folder known in place, without a copy. kCorrupt names what is wrong in it.
    [[nodiscard]] virtual Status add(const std::filesystem::path& model) = 0;
    /// Forgets one that was added in place; its file stays.
    [[nodiscard]] virtual Status forget(const std::filesystem::path& model) = 0;
    /// What loading would take, against memory that is free now.
    [[nodiscard]] virtual Result<engine::FitEstimate> estimate(
        const engine::LoadOptions& options) = 0;
    [[nodiscard]] virtual std::filesystem::path folder() const = 0;
};

}  // namespace quern::ui
