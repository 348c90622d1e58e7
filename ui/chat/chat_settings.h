#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <QVariant>

#include "ui/core/notices.h"
#include "ui/core/worker.h"
#include "ui/models/model_host.h"
#include "ui/ports/conversation_store.h"
#include "ui/ports/reply_service.h"

namespace quern::ui {

/// What the open conversation is answered with: its system prompt and sampling. A change is saved
/// at once; that of a conversation not yet begun is saved with its first message. GUI thread.
class ChatSettings : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(QString systemPrompt READ systemPrompt WRITE setSystemPrompt NOTIFY changed)
    Q_PROPERTY(QVariantMap sampling READ sampling NOTIFY changed)

public:
    /// `service` tells how a chat samples by default.
    ChatSettings(const ReplyService& service, ConversationStore& store, Worker& worker,
                 ModelHost& host, Notices& notices, QObject* parent = nullptr);

    /// Another conversation is open now (0: a new one), with these settings.
    void show(qint64 conversation, ConversationSettings values);
    /// The new conversation has got its id.
    void setConversation(qint64 conversation) { m_conversation = conversation; }
    [[nodiscard]] const ConversationSettings& values() const { return m_values; }
    /// The turns before it are left out of the prompt; 0: none.
    void setFirstTurn(std::int64_t turn);

    /// A sampling value by name: temperature, topP, topK, minP, repetitionPenalty, seed,
    /// maxTokens. Text that is no number is ignored.
    Q_INVOKABLE void setSampling(const QString& name, const QString& value);
    Q_INVOKABLE void useModelDefaults();
    [[nodiscard]] QString systemPrompt() const;
    void setSystemPrompt(const QString& prompt);
    [[nodiscard]] QVariantMap sampling() const;

signals:
    void changed();
    /// As `changed`, when it was this conversation's user who changed something.
    void edited();

private:
    void save();

    const ReplyService& m_service;
    ConversationStore& m_store;
    Worker& m_worker;
    ModelHost& m_host;
    Notices& m_notices;
    qint64 m_conversation = 0;
    ConversationSettings m_values;
};

}  // namespace quern::ui
