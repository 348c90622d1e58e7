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

/// Asked ten times a second, and when the program has written something: with what it wrote since
/// the last time. False ends the program.
using ProcessObserver = std::function<bool(const std::string& fresh)>;

/// Runs a program (found in PATH) to its end, without a shell, with no standard input, in a process
/// group of its own. It ends when this program does, or the calling thread. kCancelled when the
/// observer ended it, kNotFound when there is none.
[[nodiscard]] Result<ProcessResult> runProcess(const std::vector<std::string>& arguments,
                                               const ProcessObserver& keepGoing = {});

}  // namespace quern::app
