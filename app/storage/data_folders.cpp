#include "app/storage/data_folders.h"

#include <cstdlib>
#include <string>
#include <system_error>

namespace quern::app {

namespace fs = std::filesystem;

namespace {

// The XDG specification: a relative path in the variable is to be ignored.
std::optional<fs::path> xdgFolder(const char* variable, const char* belowHome) {
    if (const char* value = std::getenv(variable);
        value != nullptr && fs::path(value).is_absolute()) {
        return fs::path(value) / "quern";
    }
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
        return fs::path(home) / belowHome / "quern";
    }
    return std::nullopt;
}

// What people say to a model is theirs: a folder that is made here is closed to others.
Status makeFolder(const fs::path& folder) {
    std::error_code error;
    if (fs::create_directories(folder, error)) {
        fs::permissions(folder, fs::perms::owner_all, error);
    }
    if (error || !fs::is_directory(folder)) {
        return fail(ErrorCode::kIo, "cannot make the folder " + folder.string(), error.message());
    }
    return {};
}

}  // namespace

Result<DataFolders> openDataFolders(const std::optional<fs::path>& dataDir) {
    DataFolders folders;
    if (dataDir && dataDir->empty()) {
        return fail(ErrorCode::kInvalidArgument, "--data-dir names no folder");
    }
    if (dataDir) {
        std::error_code error;
        folders.data = fs::absolute(*dataDir, error);
        folders.settingsFile = folders.data / "settings.json";
    } else {
        const auto data = xdgFolder("XDG_DATA_HOME", ".local/share");
        const auto config = xdgFolder("XDG_CONFIG_HOME", ".config");
        if (!data || !config) {
            return fail(ErrorCode::kInvalidArgument,
                        "there is no home folder: set HOME, or give --data-dir");
        }
        folders.data = *data;
        folders.settingsFile = *config / "settings.json";
    }
    for (const fs::path& folder :
         {folders.data, folders.models(), folders.settingsFile.parent_path()}) {
        if (auto made = makeFolder(folder); !made) {
            folders.trouble = std::move(made.error());
            break;
        }
    }
    return folders;
}

}  // namespace quern::app
