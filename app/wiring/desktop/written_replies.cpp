#include "app/wiring/desktop/written_replies.h"

#include <mutex>
#include <utility>

#include "app/chat/watched_reply.h"
#include "app/wiring/desktop/stored_conversations.h"

namespace quern::app {
namespace {

ui::ReplyPhase phaseOf(const WatchedReply::View& view) {
    switch (view.phase) {
        case WatchedReply::Phase::kPreparing:
            return ui::ReplyPhase::kPreparing;
        case WatchedReply::Phase::kQueued:
            return ui::ReplyPhase::kQueued;
        case WatchedReply::Phase::kPrefill:
            return ui::ReplyPhase::kPrefill;
        case WatchedReply::Phase::kWriting:
            return ui::ReplyPhase::kWriting;
        case WatchedReply::Phase::kEnded:
            return ui::ReplyPhase::kEnded;
        case WatchedReply::Phase::kRefused:
            break;
    }
    return view.refusal == Refusal::kStore ? ui::ReplyPhase::kUnsaved : ui::ReplyPhase::kRefused;
}

std::shared_ptr<const ui::ReplyPlace> placeOf(const ReplyStart& start) {
    auto place = std::make_shared<ui::ReplyPlace>();
    place->conversation = start.conversation;
    place->promptText = start.promptText;
    place->request = start.request;
    for (const Message& message : start.added) {
        place->added.push_back(turnOf(message));
    }
    return place;
}

class FollowedReply : public ui::OrderedReply {
public:
    FollowedReply(ChatService& service, ReplyOrder order)
        : m_service(service), m_ticket(service.reply(std::move(order), m_watched)) {}

    [[nodiscard]] std::optional<ui::ReplyView> newerThan(std::uint64_t version) const override {
        const std::optional<WatchedReply::View> now = m_watched->newerThan(version);
        if (!now) {
            return std::nullopt;
        }
        const std::lock_guard lock(m_mutex);
        if (now->start && !m_place) {
            m_place = placeOf(*now->start);
        }
        return ui::ReplyView{.version = now->version,
                             .phase = phaseOf(*now),
                             .place = m_place,
                             .reply = turnOf(now->message),
                             .tokens = now->tokens,
                             .error = now->error};
    }
    void stop() override { m_service.stop(m_ticket); }

private:
    ChatService& m_service;
    std::shared_ptr<WatchedReply> m_watched = std::make_shared<WatchedReply>();
    ChatService::Ticket m_ticket;
    mutable std::mutex m_mutex;
    mutable std::shared_ptr<const ui::ReplyPlace> m_place;  // the same for every view
};

}  // namespace

ReplyOrder WrittenReplies::orderOf(const ui::ReplyOrder& order) {
    ReplyOrder made;
    made.conversation = order.conversation;
    made.parent = order.parent;
    made.message = order.message;
    made.systemPrompt = order.settings.systemPrompt;
    made.samplingJson = settingsToJson(order.settings);
    made.model = order.model;
    if (!order.settings.usesModelDefaults) {
        made.sampling = order.settings.sampling;
    }
    if (order.settings.maxTokens > 0) {
        made.maxTokens = order.settings.maxTokens;
    }
    made.firstMessage = order.settings.firstTurn;
    return made;
}

std::unique_ptr<ui::OrderedReply> WrittenReplies::order(const ui::ReplyOrder& order) {
    return std::make_unique<FollowedReply>(m_service, orderOf(order));
}

Result<ui::PromptSize> WrittenReplies::measure(const ui::ReplyOrder& order) const {
    return m_service.measure(orderOf(order)).map([](const PromptSize& size) {
        return ui::PromptSize{.held = size.held, .draft = size.draft};
    });
}

}  // namespace quern::app
