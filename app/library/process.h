#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/result.h"

namespace quern::app {

struct ProcessResult {
    int exitCode = 0;
    std::string output;  // standard output and error, the last 64 KiB
};

/// Runs a program (found in PATH) to its end, without a shell and with no standard input.
/// `keepGoing` is asked ten times a second; false ends the program (kCancelled). kNotFound when
/// there is none.
[[nodiscard]] Result<ProcessResult> runProcess(const std::vector<std::string>& arguments,
                                               const std::function<bool()>& keepGoing = {});

}  // namespace quern::app
