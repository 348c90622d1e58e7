#pragma once

#include <filesystem>
#include <span>
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
    std::filesystem::path kept = {};  // where a damaged one went, also if no new one was begun
    Error error;
};

/// Why a file or folder cannot be written, by its permissions and those of its file system: kIo
/// names it. Writes nothing.
[[nodiscard]] Status checkWritable(const std::filesystem::path& path);

/// kIo for what is there and is no file: a pipe would be waited on for ever.
[[nodiscard]] Status checkIsFile(const std::filesystem::path& path);

/// Renames a file to its name and `suffix`, with a number where that is taken, and gives the new
/// path. What belongs to it, as its name and one of the endings `beside`, is renamed before it, so
/// that it is never left without its file. kIo says why one cannot be renamed: all stay then.
[[nodiscard]] Result<std::filesystem::path> setAside(const std::filesystem::path& file,
                                                     std::string_view suffix,
                                                     std::span<const std::string_view> beside = {});

}  // namespace quern::app
