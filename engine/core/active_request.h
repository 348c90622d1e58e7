#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/reply.h"
#include "engine/request.h"
#include "engine/sched/batch_plan.h"

namespace quern::engine {

/// A sequence is one choice of one request: the low byte is the choice.
[[nodiscard]] constexpr SequenceId sequenceOf(RequestId request, std::int32_t choice) {
    return (request << 8) | static_cast<SequenceId>(choice);
}
[[nodiscard]] constexpr RequestId requestOf(SequenceId sequence) {
    return sequence >> 8;
}
[[nodiscard]] constexpr std::int32_t choiceOf(SequenceId sequence) {
    return static_cast<std::int32_t>(sequence & 0xff);
}

/// A request that was taken and has not ended. Belongs to the engine thread.
struct ActiveRequest {
    using Clock = std::chrono::steady_clock;

    struct Choice {
        Reply reply;
        bool isStarted = false;   // has a sequence in the scheduler
        bool isFinished = false;  // has had its finish event
        std::int32_t completionTokens = 0;
        std::optional<Clock::time_point> firstToken;
        Clock::time_point lastToken;
    };

    RequestId id = 0;
    PreparedRequest prepared;
    std::shared_ptr<EventSink> sink;
    std::vector<Choice> choices;
    std::int32_t adapterSlot = -1;  // it is a user of; −1: none
    std::uint8_t color = 0;
    bool isPaused = false;
    bool isQueued = true;                        // counts in the engine's queue
    std::optional<Clock::time_point> scheduled;  // first time
    std::int32_t cachedTokens = 0;               // of the prompt
    std::vector<TokenId> bannedAtFirst;          // before minTokens; ascending
    std::vector<TokenLogprob> promptLogprobs;    // until they are delivered

    [[nodiscard]] bool isFinished() const;
    [[nodiscard]] Usage usage(const Choice& choice, std::int32_t preemptions,
                              Clock::time_point now) const;
};

/// `padding` (ascending) and what may not be drawn before minTokens: end of generation and stop
/// tokens. Ascending.
[[nodiscard]] std::vector<TokenId> bannedBeforeMinTokens(const Tokenizer* tokenizer,
                                                         const OutputParams& params,
                                                         std::span<const TokenId> padding);

/// An end that the tokens did not bring about.
[[nodiscard]] FinishInfo finishOf(FinishReason reason, const std::optional<Error>& error,
                                  const Usage& usage);

}  // namespace quern::engine
