#include "ui/models/file_mark.h"

#include <algorithm>
#include <chrono>

namespace quern::ui {
namespace {

namespace fs = std::filesystem;

void take(const fs::path& file, FileMark& mark) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(file, error);
    const fs::file_time_type changed = fs::last_write_time(file, error);
    if (!error) {
        mark.isThere = true;
        mark.bytes += bytes;
        const auto since =
            std::chrono::duration_cast<std::chrono::nanoseconds>(changed.time_since_epoch());
        mark.changedNs = mark.changedNs == 0
                             ? since.count()
                             : std::max<std::int64_t>(mark.changedNs, since.count());
    }
}

}  // namespace

FileMark markOf(const fs::path& path) {
    FileMark mark;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        take(path, mark);
        return mark;
    }
    for (const auto& entry : fs::directory_iterator(path, error)) {
        if (entry.is_regular_file(error)) {
            take(entry.path(), mark);
        }
    }
    return mark;
}

}  // namespace quern::ui
