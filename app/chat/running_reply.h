#pragma once

#include <chrono>
#include <memory>

#include "app/chat/chat_service.h"

namespace quern::app {

/// A reply while it is written. Belongs to the service's thread.
class RunningReply {
public:
    // Often enough that a crash costs a word or two, seldom enough that the disk is idle.
    static constexpr std::chrono::milliseconds kSaveEvery{250};

    /// `message` as it was begun: empty, or with the text it goes on with.
    RunningReply(ChatService::Ticket ticket, ConversationId conversation, Message message,
                 engine::ReplyParser parser, std::shared_ptr<ReplyObserver> observer);

    /// Takes what the engine said, and tells the observer.
    void grow(const engine::TokenEvent& event);
    /// Nothing more will come.
    void end(const engine::FinishInfo& info);
    /// Saves what is new, a few times a second. A failure (a full disk) is told when the reply ends
    /// and its last save fails.
    void saveIfDue(ConversationStore& store);

    [[nodiscard]] ChatService::Ticket ticket() const { return m_ticket; }
    [[nodiscard]] ConversationId conversation() const { return m_conversation; }
    [[nodiscard]] const Message& message() const { return m_message; }
    [[nodiscard]] ReplyObserver& observer() const { return *m_observer; }

private:
    ChatService::Ticket m_ticket;
    ConversationId m_conversation;
    Message m_message;
    engine::ReplyParser m_parser;
    std::shared_ptr<ReplyObserver> m_observer;
    std::chrono::steady_clock::time_point m_lastSaved = std::chrono::steady_clock::now();
    bool m_hasUnsaved;
};

}  // namespace quern::app
