#pragma once

#include "kernels/result.h"

namespace quern::cli {

/// What the program's exit status says, for scripts.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;     // refused, beyond the bar, an error of ours
inline constexpr int kExitUsage = 2;      // the command line is wrong
inline constexpr int kExitNoModel = 3;    // there is no such model, or its file is broken
inline constexpr int kExitNoMemory = 4;   // it does not fit
inline constexpr int kExitNoNetwork = 5;  // disk or network refused
inline constexpr int kExitBusy = 6;       // taken by another program: a port, a lock
inline constexpr int kExitInterrupted = 130;

[[nodiscard]] int exitCodeOf(const Error& error);

/// Prints "quern: MESSAGE" and the cause, if there is one, to standard error; returns the exit
/// code.
int reportError(const Error& error);

}  // namespace quern::cli
