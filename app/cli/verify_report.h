#pragma once

#include <iosfwd>

#include "app/cli/verify_command.h"

namespace quern::cli {

/// A line a case, a line a bar, and a summary as the last line.
void printText(const VerifyReport& report, std::ostream& out);
/// One JSON object.
void printJson(const VerifyReport& report, std::ostream& out);

}  // namespace quern::cli
