#pragma once

#include <cstdint>
#include <filesystem>

namespace quern::ui {

/// What tells one state of a model's file, or of its folder's files, from another, without reading
/// them.
struct FileMark {
    bool isThere = false;
    std::uint64_t bytes = 0;
    std::int64_t changedNs = 0;  // the newest change
    bool operator==(const FileMark&) const = default;
};

/// Asks the file system: not on the GUI's thread.
[[nodiscard]] FileMark markOf(const std::filesystem::path& path);

}  // namespace quern::ui
