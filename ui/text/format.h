#pragma once

#include <QString>
#include <cstdint>

namespace quern::ui {

/// Figures as the window writes them: groups of three parted by a narrow space, the locale's
/// decimal sign, binary units.
[[nodiscard]] QString formatCount(std::int64_t value);
[[nodiscard]] QString formatDecimal(double value, int decimals);
/// Three significant digits at most: "1 284", "42.3", "0.52".
[[nodiscard]] QString formatRate(double value);
[[nodiscard]] QString formatBytes(std::int64_t bytes);
/// 134 515 008 → "135 M", 8.2e9 → "8.2 B".
[[nodiscard]] QString formatParameters(std::int64_t parameters);
/// Milliseconds below ten seconds, seconds above, with the unit.
[[nodiscard]] QString formatMilliseconds(double ms);
/// 0.62 → "62".
[[nodiscard]] QString formatPercent(double share);

}  // namespace quern::ui
