#pragma once

#include <array>
#include <string>

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

struct ExitCode {
    int code;
    const char* meaning;
};

/// All of them, as `quern --help` and the README show them.
inline constexpr std::array<ExitCode, 8> kExitCodes{{
    {kExitOk, "done"},
    {kExitFailed, "refused (by a template, by verify's bar, by doctor), or an error of ours"},
    {kExitUsage, "the command line, or what it gives to read, is wrong"},
    {kExitNoModel, "there is no such model, its file is broken, or it cannot do this"},
    {kExitNoMemory, "it does not fit into memory"},
    {kExitNoNetwork, "the disk or the network refused"},
    {kExitBusy, "taken: a port, a download under way, a name"},
    {kExitInterrupted, "interrupted (Ctrl+C, SIGTERM)"},
}};

/// The list of them, a line each.
[[nodiscard]] std::string exitStatusText();

[[nodiscard]] int exitCodeOf(const Error& error);

/// Prints "quern: MESSAGE" and the cause, if there is one, to standard error; returns the exit
/// code.
int reportError(const Error& error);

}  // namespace quern::cli
