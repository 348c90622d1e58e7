#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "engine/request.h"

namespace quern::ui {

/// Where the engine thread leaves the news of one reply and the GUI thread fetches them, once a
/// frame. Bounded by the reply itself: news that nobody has fetched are merged, never dropped, and
/// the engine never waits. Internally locked.
class ReplyFeed : public engine::EventSink {
public:
    struct News {
        std::string text;
        std::int32_t tokens = 0;
        std::optional<std::int32_t> cachedTokens;
        std::optional<engine::FinishInfo> finish;
        [[nodiscard]] bool isEmpty() const {
            return text.empty() && tokens == 0 && !cachedTokens && !finish;
        }
    };

    void onEvent(engine::TokenEvent event) override;
    /// Everything since the last call.
    [[nodiscard]] News take();

private:
    std::mutex m_mutex;
    News m_news;
};

}  // namespace quern::ui
