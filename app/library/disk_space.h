#pragma once

#include <cstdint>
#include <filesystem>

#include "kernels/result.h"

namespace quern::app {

/// kIo with both numbers when the disk that holds `folder` has less than `bytes` free.
[[nodiscard]] Status checkDiskSpace(const std::filesystem::path& folder, std::int64_t bytes);

/// "1.2 GB", in powers of ten as disks are sold.
[[nodiscard]] std::string humanBytes(std::int64_t bytes);

}  // namespace quern::app
