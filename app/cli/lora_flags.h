#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace quern::cli {

/// Adapters that a command is given: --lora [NAME=]PATH.
struct LoraFlags {
    std::vector<std::string> specs;

    void addTo(CLI::App& command, const std::string& description);
    /// Each with its path and its name, given or the path's.
    [[nodiscard]] std::vector<engine::AdapterOptions> adapters() const;
    /// What their files hold: to be kept free when their model is loaded. Errors of reading them.
    [[nodiscard]] Result<std::int64_t> fileBytes() const;
    /// Loads each for the first of the models that takes it, and says so on standard error unless
    /// `isQuiet`. The error of the last model where none does; its name is then no longer
    /// announced.
    [[nodiscard]] Result<std::vector<std::shared_ptr<const engine::LoadedAdapter>>> load(
        engine::Engine& engine, bool isQuiet) const;
};

}  // namespace quern::cli
