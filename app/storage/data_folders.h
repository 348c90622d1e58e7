#pragma once

#include <filesystem>
#include <optional>

#include "kernels/result.h"

namespace quern::app {

/// Where everything lies that Quern keeps. XDG base directories, or all under one folder.
struct DataFolders {
    std::filesystem::path data;          // quern.db and models/
    std::filesystem::path settingsFile;  // settings.json

    [[nodiscard]] std::filesystem::path models() const { return data / "models"; }
    [[nodiscard]] std::filesystem::path database() const { return data / "quern.db"; }
};

/// $XDG_DATA_HOME/quern and $XDG_CONFIG_HOME/quern (or their defaults under $HOME), or `dataDir`
/// for both. Creates what is missing. kIo names the folder that could not be made.
[[nodiscard]] Result<DataFolders> openDataFolders(
    const std::optional<std::filesystem::path>& dataDir);

}  // namespace quern::app
