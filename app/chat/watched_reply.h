#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "app/chat/chat_service.h"

namespace quern::app {

/// A reply for somebody who looks at it now and then. It is always shown whole, never as what has
/// happened since: however seldom or late they look, they miss nothing, least of all the end.
/// Internally locked.
class WatchedReply : public ReplyObserver {
public:
    enum class Phase : std::uint8_t { kPreparing, kQueued, kPrefill, kWriting, kEnded, kRefused };

    struct View {
        std::uint64_t version = 0;  // grows with every change; the first one is 1
        Phase phase = Phase::kPreparing;
        std::shared_ptr<const ReplyStart> start;  // once the reply has its place
        Message message;                          // the reply as it stands, from then on
        std::int32_t tokens = 0;
        std::optional<Error> error;  // refused: why; ended: why it could not be saved
        Refusal refusal = Refusal::kPrompt;
    };

    /// The reply as it is now, if that is newer than `version` (0: in any case).
    [[nodiscard]] std::optional<View> newerThan(std::uint64_t version) const;

    void onStarted(const ReplyStart& start) override;
    void onNews(const ReplyNews& news) override;
    void onFinished(const Message& message, const std::optional<Error>& saveError) override;
    void onRefused(const Error& error, Refusal refusal) override;

private:
    mutable std::mutex m_mutex;
    View m_view{.version = 1};
};

}  // namespace quern::app
