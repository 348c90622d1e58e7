#pragma once

#include <string>

namespace quern::cli {

/// Prints "quern: LINE" to standard error. Names that come from files cannot steer the terminal.
void tellUser(const std::string& line);

/// Gives standard input, output and error something to be where the program was started without
/// them, so that no file that it opens takes their numbers: an input that is at its end, outputs
/// that cannot be written. To be called first.
void openMissingStreams();

/// What the program is to exit with: `code`, unless what it printed could not be written (a full
/// disk), which is said.
[[nodiscard]] int afterOutput(int code);

}  // namespace quern::cli
