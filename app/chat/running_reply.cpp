#include "app/chat/running_reply.h"

#include <utility>

#include "app/chat/reply_figures.h"

namespace quern::app {

namespace {

void take(const std::vector<engine::ReplyDelta>& deltas, ReplyNews& news) {
    for (const engine::ReplyDelta& delta : deltas) {
        const bool isReasoning = delta.kind == engine::ReplyDelta::Kind::kReasoning;
        (isReasoning ? news.reasoning : news.text) += delta.text;
    }
}

MessageState stateAfter(engine::FinishReason reason) {
    switch (reason) {
        case engine::FinishReason::kError:
            return MessageState::kFailed;
        case engine::FinishReason::kCancelled:
        case engine::FinishReason::kDeadline:
            return MessageState::kInterrupted;
        default:
            return MessageState::kDone;
    }
}

}  // namespace

RunningReply::RunningReply(ChatService::Ticket ticket, Message message, engine::ReplyParser parser,
                           std::shared_ptr<ReplyObserver> observer)
    : m_ticket(ticket),
      m_message(std::move(message)),
      m_parser(std::move(parser)),
      m_observer(std::move(observer)),
      m_hasUnsaved(!m_message.text.empty()) {}

void RunningReply::grow(const engine::TokenEvent& event) {
    ReplyNews news;
    news.tokens = static_cast<std::int32_t>(event.tokens.size());
    take(m_parser.push(event.text), news);
    if (event.finish) {
        take(m_parser.finish(), news);
    }
    m_message.text += news.text;
    m_message.reasoning += news.reasoning;
    m_hasUnsaved = m_hasUnsaved || !news.text.empty() || !news.reasoning.empty();
    m_observer->onNews(news);
}

void RunningReply::end(const engine::FinishInfo& info) {
    m_message.state = stateAfter(info.reason);
    m_message.error = info.error ? info.error->message : std::string();
    m_message.stats = figuresOf(info);
}

void RunningReply::saveIfDue(ConversationStore& store) {
    const auto now = std::chrono::steady_clock::now();
    if (m_hasUnsaved && now - m_lastSaved >= kSaveEvery) {
        m_hasUnsaved = !store.updateReply(m_message);
        m_lastSaved = now;
    }
}

}  // namespace quern::app
