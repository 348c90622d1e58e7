#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <QVariant>

#include "ui/chat/conversation_list.h"
#include "ui/chat/prompt_meter.h"
#include "ui/chat/reply_writer.h"
#include "ui/chat/transcript.h"
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
    Q_PROPERTY(quern::ui::PromptMeter* meter READ meter CONSTANT)
    Q_PROPERTY(qint64 conversation READ conversation NOTIFY opened)
    Q_PROPERTY(QString title READ title NOTIFY titleChanged)
    Q_PROPERTY(QString draft READ draft WRITE setDraft NOTIFY draftChanged)
    Q_PROPERTY(QString phase READ phase NOTIFY phaseChanged)
    Q_PROPERTY(QString phaseText READ phaseText NOTIFY phaseChanged)
    Q_PROPERTY(bool isBusy READ isBusy NOTIFY phaseChanged)
    Q_PROPERTY(QString refusal MEMBER m_refusal NOTIFY refusalChanged)
    Q_PROPERTY(bool isTooLong MEMBER m_isTooLong NOTIFY refusalChanged)
    Q_PROPERTY(QString promptText MEMBER m_promptText NOTIFY promptTextChanged)
    Q_PROPERTY(QString systemPrompt READ systemPrompt WRITE setSystemPrompt NOTIFY settingsChanged)
    Q_PROPERTY(QVariantMap sampling READ sampling NOTIFY settingsChanged)

public:
    Chat(engine::Engine& engine, Worker& engineWorker, ConversationStore& store,
         Worker& storeWorker, ModelHost& host, EngineFeed& feed, Notices& notices,
         const Theme& theme, QObject* parent = nullptr);

    Q_INVOKABLE void newConversation();
    Q_INVOKABLE void open(qint64 conversation);
    Q_INVOKABLE void openNeighbour(int step);
    /// Sends the draft. Refused while a reply is written, without a model, or when it is empty.
    Q_INVOKABLE void send();
    Q_INVOKABLE void stop();
    /// Writes another branch of a reply; 0: of the last one.
    Q_INVOKABLE void regenerate(qint64 turn);
    /// Sends another wording of a user's turn as a branch beside it.
    Q_INVOKABLE void editTurn(qint64 turn, const QString& text);
    /// Goes to the branch `step` places on.
    Q_INVOKABLE void selectBranch(qint64 turn, int step);
    Q_INVOKABLE void copy(const QString& text) const;
    Q_INVOKABLE void copyTurn(qint64 turn) const;
    /// Leaves the oldest turns out of the prompt until the draft fits, and sends.
    Q_INVOKABLE void leaveOutOldest();
    Q_INVOKABLE void takeBackLeftOut();
    Q_INVOKABLE void dismissRefusal();
    /// A sampling value by name: temperature, topP, topK, minP, repetitionPenalty, seed,
    /// maxTokens. Text that is no number is ignored.
    Q_INVOKABLE void setSampling(const QString& name, const QString& value);
    Q_INVOKABLE void useModelDefaults();
    /// The last turn a user wrote on the active path, for "edit last"; 0 when there is none.
    Q_INVOKABLE [[nodiscard]] qint64 lastUserTurn() const;
    Q_INVOKABLE [[nodiscard]] qint64 lastReply() const;
    Q_INVOKABLE [[nodiscard]] QString textOf(qint64 turn) const;
    void saveRepliesAgain() { m_writer.saveAgain(); }
    /// See ReplyWriter::close.
    void close() { m_writer.close(); }

    [[nodiscard]] ConversationList* conversations() { return &m_conversations; }
    [[nodiscard]] Transcript* transcript() { return &m_transcript; }
    [[nodiscard]] PromptMeter* meter() { return &m_meter; }
    [[nodiscard]] qint64 conversation() const { return m_conversation; }
    [[nodiscard]] QString title() const;
    [[nodiscard]] QString draft() const { return m_draft; }
    void setDraft(const QString& draft);
    [[nodiscard]] QString phase() const;
    [[nodiscard]] QString phaseText() const;
    [[nodiscard]] bool isBusy() const;
    [[nodiscard]] QString systemPrompt() const;
    void setSystemPrompt(const QString& prompt);
    [[nodiscard]] QVariantMap sampling() const;

signals:
    void opened();
    void titleChanged();
    void draftChanged();
    void phaseChanged();
    void refusalChanged();
    void promptTextChanged();
    void settingsChanged();
    /// The transcript's end is news: a view that is at the end follows it.
    void grew();

private:
    void show(ConversationContent content);
    void reload();
    void began(qint64 conversation, const std::vector<Turn>& added, const QString& promptText);
    void finished(qint64 conversation, const Turn& turn);
    void refuse(const QString& reason, bool isTooLong);
    void measure();
    void saveSettings();
    [[nodiscard]] ReplyOrder orderBefore(std::int64_t parent) const;

    engine::Engine& m_engine;
    Worker& m_engineWorker;
    ConversationStore& m_store;
    Worker& m_storeWorker;
    ModelHost& m_host;
    EngineFeed& m_feed;
    Notices& m_notices;
    ConversationList m_conversations;
    Transcript m_transcript;
    PromptMeter m_meter;
    ReplyWriter m_writer;
    qint64 m_conversation = 0;
    ConversationSettings m_settings;
    QString m_draft;
    QString m_refusal;
    QString m_promptText;
    bool m_isTooLong = false;
};

}  // namespace quern::ui
