#include "app/chat/reply_figures.h"

namespace quern::app {

namespace {

double tokensPerSecond(const engine::Usage& usage) {
    // The first token belongs to the prefill: decode speed is that of those after it.
    const auto decoded = usage.completionTokens - 1;
    return decoded > 0 && usage.decodeSeconds > 0 ? decoded / usage.decodeSeconds : 0.0;
}

}  // namespace

std::string describeStop(const engine::FinishInfo& finish) {
    switch (finish.reason) {
        case engine::FinishReason::kStop:
            return finish.stopToken || finish.stopReason.empty() ? "eos"
                                                                 : '"' + finish.stopReason + '"';
        case engine::FinishReason::kLength:
            return "length";
        case engine::FinishReason::kContext:
            return kStopContextFull;
        case engine::FinishReason::kCancelled:
            return "stopped";
        case engine::FinishReason::kDeadline:
            return "deadline";
        case engine::FinishReason::kError:
            return "error";
    }
    return {};
}

ReplyStats figuresOf(const engine::FinishInfo& finish) {
    return {.promptTokens = finish.usage.promptTokens,
            .cachedTokens = finish.usage.cachedTokens,
            .completionTokens = finish.usage.completionTokens,
            .ttftMs = finish.usage.ttftSeconds * 1000.0,
            .tokensPerSecond = tokensPerSecond(finish.usage),
            .stopReason = describeStop(finish)};
}

}  // namespace quern::app
