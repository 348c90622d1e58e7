#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <optional>
#include <vector>

#include "ui/chat/conversation_list.h"
#include "ui/chat/draft.h"
#include "ui/chat/foreign_changes.h"
#include "ui/chat/open_conversation.h"
#include "ui/chat/prompt_meter.h"
#include "ui/chat/replies.h"
#include "ui/core/engine_feed.h"
#include "ui/models/model_host.h"

namespace quern::ui {

/// The chat screen: the conversation that is open, its draft, and what can be done with it.
/// GUI thread.
class Chat : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(quern::ui::ConversationList* conversations READ conversations CONSTANT)
    Q_PROPERTY(quern::ui::Transcript* transcript READ transcript CONSTANT)
    Q_PROPERTY(quern::ui::ChatSettings* settings READ settings CONSTANT)
    Q_PROPERTY(quern::ui::PromptMeter* meter READ meter CONSTANT)
    Q_PROPERTY(qint64 conversation READ conversation NOTIFY opened)
    Q_PROPERTY(QString title READ title NOTIFY titleChanged)
    Q_PROPERTY(QString draft READ draft WRITE setDraft NOTIFY draftChanged)
    Q_PROPERTY(qint64 editing READ editing NOTIFY editingChanged)
    Q_PROPERTY(QString phaseText READ phaseText NOTIFY phaseChanged)
    Q_PROPERTY(bool isBusy READ isBusy NOTIFY phaseChanged)
    Q_PROPERTY(QString refusal MEMBER m_refusal NOTIFY refusalChanged)
    Q_PROPERTY(bool isTooLong MEMBER m_isTooLong NOTIFY refusalChanged)
    Q_PROPERTY(QString promptText MEMBER m_promptText NOTIFY promptTextChanged)

public:
    /// `countWorker` counts tokens, `storeWorker` waits for the disk. The workers must end before
    /// it, and all others outlive it.
    Chat(ReplyService& service, Worker& countWorker, ConversationStore& store, Worker& storeWorker,
         ModelHost& host, EngineFeed& feed, Notices& notices, const Theme& theme,
         QObject* parent = nullptr);

    Q_INVOKABLE void newConversation();
    Q_INVOKABLE void open(qint64 conversation);
    /// Sends the draft. Refused while a reply is written, without a model, or when it is empty.
    Q_INVOKABLE void send();
    Q_INVOKABLE void stop();
    /// Writes another branch of a reply; 0: of the last one.
    Q_INVOKABLE void regenerate(qint64 turn);
    /// Makes the text of a user's turn the draft: sent, it is a branch beside that turn. The draft
    /// that was there comes back when the edit ends, by sending it or by `endEdit`.
    Q_INVOKABLE void beginEdit(qint64 turn);
    Q_INVOKABLE void endEdit();
    /// Goes to the branch `step` places on.
    Q_INVOKABLE void selectBranch(qint64 turn, int step);
    Q_INVOKABLE void copy(const QString& text) const;
    Q_INVOKABLE void copyTurn(qint64 turn) const;
    /// Leaves the oldest turns out of the prompt until the draft fits, and sends.
    Q_INVOKABLE void leaveOutOldest();
    Q_INVOKABLE void takeBackLeftOut();
    Q_INVOKABLE void dismissRefusal();
    /// The last turn a user wrote on the active path, for "edit last"; 0 when there is none.
    Q_INVOKABLE [[nodiscard]] qint64 lastUserTurn() const { return m_open.lastUserTurn(); }
    Q_INVOKABLE [[nodiscard]] qint64 lastReply() const { return m_open.lastReply(); }
    Q_INVOKABLE [[nodiscard]] QString textOf(qint64 turn) const;
    /// Replies whose last save failed. The service also does it with each new message: the disk
    /// may have room again.
    void saveRepliesAgain();
    /// Ends running replies; what was shown of them is saved as interrupted.
    void close() { m_replies.close(); }

    [[nodiscard]] ConversationList* conversations() { return &m_conversations; }
    [[nodiscard]] Transcript* transcript() { return &m_open.transcript(); }
    [[nodiscard]] ChatSettings* settings() { return &m_open.settings(); }
    [[nodiscard]] PromptMeter* meter() { return &m_meter; }
    [[nodiscard]] qint64 conversation() const { return m_open.id(); }
    [[nodiscard]] QString title() const;
    [[nodiscard]] QString draft() const { return m_draft.text(); }
    void setDraft(const QString& draft);
    [[nodiscard]] qint64 editing() const { return m_draft.editing(); }
    /// Of the reply under way in the open conversation; none: none is.
    [[nodiscard]] std::optional<ReplyPhase> phase() const;
    [[nodiscard]] QString phaseText() const;
    [[nodiscard]] bool isBusy() const { return phase().has_value(); }
    /// An order has not found its place yet.
    [[nodiscard]] bool isPreparing() const { return m_replies.isPreparing(); }

signals:
    void opened();
    void titleChanged();
    void draftChanged();
    void editingChanged();
    void phaseChanged();
    void refusalChanged();
    void promptTextChanged();
    /// The transcript's end is news: a view that is at the end follows it.
    void grew();

private:
    void follow();
    void onPlaced(const ReplyView& view);
    void onGrew(const ReplyView& view);
    void onEnded(const ReplyView& view);
    void onRefused(qint64 conversation, const ReplyView& view);
    void refuse(const QString& reason, bool isTooLong);
    void measure();
    [[nodiscard]] ReplyOrder orderBelow(std::int64_t parent) const;
    [[nodiscard]] ReplyOrder orderOfDraft() const;

    ReplyService& m_service;
    Worker& m_countWorker;
    Worker& m_storeWorker;
    ModelHost& m_host;
    EngineFeed& m_feed;
    Notices& m_notices;
    ConversationList m_conversations;
    ForeignChanges m_foreignChanges;
    PromptMeter m_meter;
    Replies m_replies;
    OpenConversation m_open;
    Draft m_draft;
    QString m_refusal;
    QString m_promptText;
    bool m_isTooLong = false;
    // Replies that ended without being saved, and how many of them were saved since.
    int m_unsavedEnds = 0;
    int m_savedEnds = 0;
};

}  // namespace quern::ui
