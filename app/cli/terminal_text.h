#pragma once

#include <string>

namespace quern::cli {

/// Text for a terminal: control characters that could move its cursor or change it are made
/// visible.
[[nodiscard]] std::string withoutTerminalControls(const std::string& text);

}  // namespace quern::cli
