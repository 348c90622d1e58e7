#include "app/cli/exit_codes.h"

#include <fmt/format.h>

#include <cstdio>

#include "app/cli/standard_streams.h"

namespace quern::cli {

int exitCodeOf(const Error& error) {
    switch (error.code) {
        case ErrorCode::kNotFound:
        case ErrorCode::kCorrupt:
        case ErrorCode::kUnsupported:
            return kExitNoModel;
        case ErrorCode::kOutOfMemory:
            return kExitNoMemory;
        case ErrorCode::kIo:
            return kExitNoNetwork;
        case ErrorCode::kBusy:
        case ErrorCode::kUnavailable:
        case ErrorCode::kConflict:
            return kExitBusy;
        case ErrorCode::kCancelled:
            return kExitInterrupted;
        case ErrorCode::kInvalidArgument:
        case ErrorCode::kContextLength:
            return kExitUsage;
        case ErrorCode::kInternal:
            return kExitFailed;
    }
    return kExitFailed;
}

std::string exitStatusText() {
    std::string text = "Exit status:\n";
    for (const ExitCode& exit : kExitCodes) {
        text += fmt::format("  {:<25} {}\n", exit.code, exit.meaning);
    }
    return text;
}

int reportError(const Error& error) {
    std::fflush(stdout);
    tellUser(error.message + (error.cause.empty() ? "" : "\n       (" + error.cause + ")"));
    return exitCodeOf(error);
}

}  // namespace quern::cli
