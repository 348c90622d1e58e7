#pragma once

#include <string>

namespace quern::cli {

/// Prints "quern: LINE" to standard error. Names that come from files cannot steer the terminal.
void tellUser(const std::string& line);

/// What the program is to exit with: `code`, unless what it printed could not be written (a full
/// disk), which is said.
[[nodiscard]] int afterOutput(int code);

}  // namespace quern::cli
