#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/result.h"

namespace quern::app {

/// A file that could not be used as it is, and what was done instead. Nothing of it was changed.
struct FileTrouble {
    enum class Outcome {
        kSetAside,  // it is called `kept` now, and a new one was begun
        kReadOnly,  // what it holds is used; changes last as long as the process
        kUnread,    // nothing of it is used; changes last as long as the process
    };
    Outcome outcome = Outcome::kUnread;
    std::filesystem::path file;
    std::filesystem::path kept = {};
    Error error;
};

/// Why a file or folder cannot be written, by its permissions and those of its file system: kIo
/// names it. Writes nothing.
[[nodiscard]] Status checkWritable(const std::filesystem::path& path);

/// Renames a file to its name and `suffix`, with a number where that is taken, and gives the new
/// path. kIo says why it cannot be renamed.
[[nodiscard]] Result<std::filesystem::path> setAside(const std::filesystem::path& file,
                                                     std::string_view suffix);

}  // namespace quern::app
