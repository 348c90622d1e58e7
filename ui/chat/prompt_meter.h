#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QTimer>
#include <optional>

#include "ui/core/worker.h"
#include "ui/ports/reply_service.h"

namespace quern::ui {

/// How full the context is: the conversation, the draft, and the model's context. Counted on a
/// worker once typing pauses. GUI thread.
class PromptMeter : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(bool isKnown READ isKnown NOTIFY changed)
    Q_PROPERTY(QString text READ text NOTIFY changed)
    Q_PROPERTY(double fill READ fill NOTIFY changed)
    Q_PROPERTY(bool isTight READ isTight NOTIFY changed)
    Q_PROPERTY(bool isOver READ isOver NOTIFY changed)

public:
    /// `service` counts, on `worker`, which must end before both.
    PromptMeter(ReplyService& service, Worker& worker, QObject* parent = nullptr);

    /// What is measured from now on: the conversation up to the order's parent. Without one nothing
    /// is shown.
    void setSubject(std::optional<ReplyOrder> subject, std::int64_t contextTokens);
    void setDraft(const QString& draft);
    /// Tokens that were generated since the subject was set: added without a count.
    void setWritten(int tokens);

    [[nodiscard]] bool isKnown() const { return m_context > 0 && m_held >= 0; }
    [[nodiscard]] QString text() const;  // "1 204 + 318 / 8 192"
    [[nodiscard]] double fill() const;
    [[nodiscard]] bool isTight() const { return fill() >= 0.8; }
    [[nodiscard]] bool isOver() const { return isKnown() && used() >= m_context; }
    [[nodiscard]] std::int64_t used() const { return m_held + m_draftTokens + m_written; }

signals:
    void changed();

private:
    void count();

    ReplyService& m_service;
    Worker& m_worker;
    QTimer m_delay;
    std::optional<ReplyOrder> m_subject;
    QString m_draft;
    std::int64_t m_context = 0;
    std::int64_t m_held = -1;
    std::int64_t m_draftTokens = 0;
    std::int64_t m_written = 0;
    quint64 m_asked = 0;
};

}  // namespace quern::ui
