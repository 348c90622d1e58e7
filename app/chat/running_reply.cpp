#include "app/chat/running_reply.h"

#include <utility>

#include "app/chat/reply_figures.h"

namespace quern::app {

namespace {

void take(const std::vector<engine::ReplyDelta>& deltas, ReplyNews& news) {
    for (const engine::ReplyDelta& delta : deltas) {
        switch (delta.kind) {
            case engine::ReplyDelta::Kind::kContent:
                news.text += delta.text;
                break;
            case engine::ReplyDelta::Kind::kReasoning:
                news.reasoning += delta.text;
                break;
            default:
                news.calls.push_back(delta);
        }
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

void add(const ReplyNews& news, Message& reply) {
    reply.text += news.text;
    reply.reasoning += news.reasoning;
    for (const engine::ReplyDelta& delta : news.calls) {
        if (reply.calls.size() <= delta.call) {
            reply.calls.resize(delta.call + 1);
        }
        MessageCall& call = reply.calls[delta.call];
        const bool isName = delta.kind == engine::ReplyDelta::Kind::kCallName;
        (isName ? call.name : call.arguments) += delta.text;
    }
}

RunningReply::RunningReply(ChatService::Ticket ticket, ConversationId conversation, Message message,
                           engine::ReplyParser parser, std::shared_ptr<ReplyObserver> observer)
    : m_ticket(ticket),
      m_conversation(conversation),
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
    add(news, m_message);
    m_hasUnsaved =
        m_hasUnsaved || !news.text.empty() || !news.reasoning.empty() || !news.calls.empty();
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
