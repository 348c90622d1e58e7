#include "ui/core/reply_feed.h"

#include <utility>

namespace quern::ui {

void ReplyFeed::onEvent(engine::TokenEvent event) {
    const std::lock_guard lock(m_mutex);
    m_news.text += event.text;
    m_news.tokens += static_cast<std::int32_t>(event.tokens.size());
    if (event.cachedTokens) {
        m_news.cachedTokens = event.cachedTokens;
    }
    if (event.finish) {
        m_news.finish = std::move(event.finish);
    }
}

ReplyFeed::News ReplyFeed::take() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_news, News{});
}

}  // namespace quern::ui
