#pragma once

#include <QObject>
#include <functional>

#include "ui/chat/chat_settings.h"
#include "ui/chat/shown_ends.h"
#include "ui/chat/transcript.h"
#include "ui/core/notices.h"
#include "ui/core/worker.h"
#include "ui/ports/reply_service.h"

namespace quern::ui {

/// The conversation that is open: read from the store, and shown with what a reply under way has
/// said since it was saved. GUI thread; the store is called on its worker.
class OpenConversation : public QObject {
    Q_OBJECT

public:
    /// The reply under way in a conversation, or null.
    using Live = std::function<const ReplyView*(std::int64_t conversation)>;

    OpenConversation(const ReplyService& service, ConversationStore& store, Worker& worker,
                     ModelHost& host, Notices& notices, const Theme& theme, Live live,
                     QObject* parent = nullptr);

    /// 0: a new one, which its first message makes.
    [[nodiscard]] qint64 id() const { return m_id; }
    [[nodiscard]] Transcript& transcript() { return m_transcript; }
    [[nodiscard]] const Transcript& transcript() const { return m_transcript; }
    [[nodiscard]] ChatSettings& settings() { return m_settings; }
    [[nodiscard]] const ChatSettings& settings() const { return m_settings; }

    void begin();
    void open(qint64 conversation);
    /// Takes in what another program has added below the turns that are shown. What it has added
    /// elsewhere is a branch, which is counted; the branch that is shown stays.
    void refresh();
    /// Takes in the turns that an order has added, where it was for this conversation; a new one
    /// gets its id so, unless another was opened meanwhile.
    void place(const ReplyPlace& place);
    /// What stays in sight of a reply that has ended, saved or not.
    void keepEnd(const Turn& reply) { m_ends.keep(reply); }
    /// Goes to the branch `step` places beside a turn.
    void selectBranch(qint64 turn, int step);
    /// The turns before it are left out of the prompt; 0: none.
    void setFirstTurn(std::int64_t turn);

    /// The last turn of the path that a user wrote; 0: there is none.
    [[nodiscard]] qint64 lastUserTurn() const;
    /// The reply that the path ends with; 0: it ends with no reply.
    [[nodiscard]] qint64 lastReply() const;

signals:
    /// Another one is open, which may not have been read yet.
    void opened();
    /// The path is another one.
    void shown();

private:
    void read();
    void show(ConversationContent content);
    void showPath(std::vector<Turn> path, std::int64_t firstTurn);

    ConversationStore& m_store;
    Worker& m_worker;
    Notices& m_notices;
    Live m_live;
    Transcript m_transcript;
    ChatSettings m_settings;
    ShownEnds m_ends;
    qint64 m_id = 0;
};

}  // namespace quern::ui
