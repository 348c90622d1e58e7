#include "app/chat/watched_reply.h"

#include <algorithm>

namespace quern::app {

std::optional<WatchedReply::View> WatchedReply::newerThan(std::uint64_t version) const {
    const std::lock_guard lock(m_mutex);
    return m_view.version > version ? std::optional(m_view) : std::nullopt;
}

void WatchedReply::onStarted(const ReplyStart& start) {
    const std::lock_guard lock(m_mutex);
    m_view.start = std::make_shared<const ReplyStart>(start);
    m_view.message = start.added.back();
    m_view.phase = Phase::kQueued;
    ++m_view.version;
}

void WatchedReply::onNews(const ReplyNews& news) {
    const std::lock_guard lock(m_mutex);
    add(news, m_view.message);
    m_view.tokens += news.tokens;
    // The first news of a reply is that the engine has begun with its prompt.
    m_view.phase = news.tokens > 0 || !news.text.empty() ? Phase::kWriting
                                                         : std::max(m_view.phase, Phase::kPrefill);
    ++m_view.version;
}

void WatchedReply::onFinished(const Message& message, const std::optional<Error>& saveError) {
    const std::lock_guard lock(m_mutex);
    m_view.message = message;
    m_view.error = saveError;
    m_view.phase = Phase::kEnded;
    ++m_view.version;
}

void WatchedReply::onRefused(const Error& error, Refusal refusal) {
    const std::lock_guard lock(m_mutex);
    m_view.error = error;
    m_view.refusal = refusal;
    m_view.phase = Phase::kRefused;
    ++m_view.version;
}

}  // namespace quern::app
