#include "app/cli/exit_codes.h"

#include <cstdio>

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
        case ErrorCode::kConflict:
            return kExitBusy;
        case ErrorCode::kCancelled:
            return kExitInterrupted;
        case ErrorCode::kInvalidArgument:
        case ErrorCode::kContextLength:
        case ErrorCode::kInternal:
            return kExitFailed;
    }
    return kExitFailed;
}

int reportError(const Error& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "quern: %s\n", error.message.c_str());
    if (!error.cause.empty()) {
        std::fprintf(stderr, "       (%s)\n", error.cause.c_str());
    }
    return exitCodeOf(error);
}

}  // namespace quern::cli
