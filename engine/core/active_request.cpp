#include "engine/core/active_request.h"

#include <algorithm>

namespace quern::engine {

namespace {

double secondsBetween(ActiveRequest::Clock::time_point from, ActiveRequest::Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

bool ActiveRequest::isFinished() const {
    return std::ranges::all_of(choices, &Choice::isFinished);
}

Usage ActiveRequest::usage(const Choice& choice, std::int32_t preemptions,
                           Clock::time_point now) const {
    Usage usage{.promptTokens = static_cast<std::int32_t>(prepared.promptIds.size()),
                .cachedTokens = cachedTokens,
                .completionTokens = choice.completionTokens,
                .preemptions = preemptions};
    const Clock::time_point arrival = prepared.request.arrival;
    usage.queueSeconds = secondsBetween(arrival, scheduled.value_or(now));
    if (choice.firstToken) {
        usage.prefillSeconds = secondsBetween(*scheduled, *choice.firstToken);
        usage.decodeSeconds = secondsBetween(*choice.firstToken, choice.lastToken);
        usage.ttftSeconds = secondsBetween(arrival, *choice.firstToken);
    }
    return usage;
}

std::vector<TokenId> bannedBeforeMinTokens(const Tokenizer* tokenizer, const OutputParams& params,
                                           std::span<const TokenId> padding) {
    std::vector<TokenId> banned(padding.begin(), padding.end());
    banned.insert(banned.end(), params.stopTokenIds.begin(), params.stopTokenIds.end());
    if (tokenizer != nullptr) {
        const auto& ends = tokenizer->special().endOfGeneration;
        banned.insert(banned.end(), ends.begin(), ends.end());
    }
    std::ranges::sort(banned);
    banned.erase(std::unique(banned.begin(), banned.end()), banned.end());
    return banned;
}

FinishInfo finishOf(FinishReason reason, const std::optional<Error>& error, const Usage& usage) {
    return FinishInfo{.reason = reason,
                      .stopReason = {},
                      .stopToken = std::nullopt,
                      .error = error,
                      .usage = usage};
}

}  // namespace quern::engine
