#pragma once

#include <cstdint>

namespace quern::ui {

/// Binary units, in bytes.
inline constexpr std::int64_t kMiB = 1024 * 1024;
inline constexpr std::int64_t kGiB = 1024 * kMiB;

}  // namespace quern::ui
