#pragma once

#include <filesystem>
#include <optional>

#include "kernels/result.h"

namespace quern::app {

/// Where everything lies that Quern keeps. XDG base directories, or all under one folder.
struct DataFolders {
    std::filesystem::path data;          // quern.db and models/
    std::filesystem::path settingsFile;  // settings.json
    /// A folder that could not be made: what would be kept in it cannot be.
    std::optional<Error> trouble = {};

    [[nodiscard]] std::filesystem::path models() const { return data / "models"; }
    [[nodiscard]] std::filesystem::path database() const { return data / "quern.db"; }
};

/// $XDG_DATA_HOME/quern and $XDG_CONFIG_HOME/quern (or their defaults under $HOME), or `dataDir`
/// for both. Creates what is missing, and says in `trouble` what it could not.
/// kInvalidArgument where there is no home, and for an empty `dataDir`.
[[nodiscard]] Result<DataFolders> openDataFolders(
    const std::optional<std::filesystem::path>& dataDir);

}  // namespace quern::app
