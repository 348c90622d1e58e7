#include "app/library/disk_space.h"

#include <fmt/format.h>

#include <array>

namespace quern::app {

std::string humanBytes(std::int64_t bytes) {
    static constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1000.0 && unit + 1 < kUnits.size()) {
        value /= 1000.0;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Status checkDiskSpace(const std::filesystem::path& folder, std::int64_t bytes) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error) {
        return fail(ErrorCode::kIo, "cannot ask for the free space of " + folder.string(),
                    error.message());
    }
    if (bytes > 0 && space.available < static_cast<std::uintmax_t>(bytes)) {
        return fail(
            ErrorCode::kIo,
            fmt::format("{} has {} free, and {} are needed", folder.string(),
                        humanBytes(static_cast<std::int64_t>(space.available)), humanBytes(bytes)));
    }
    return {};
}

}  // namespace quern::app
