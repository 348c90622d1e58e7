#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QTimer>
#include <memory>

#include "ui/chat/prompt.h"
#include "ui/core/worker.h"

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
    explicit PromptMeter(Worker& worker, QObject* parent = nullptr);

    /// What is measured from now on; a null model shows nothing.
    void setSubject(std::shared_ptr<const engine::LoadedModel> model, ConversationSettings settings,
                    std::vector<Turn> path);
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

    Worker& m_worker;
    QTimer m_delay;
    std::shared_ptr<const engine::LoadedModel> m_model;
    ConversationSettings m_settings;
    std::vector<Turn> m_path;
    QString m_draft;
    std::int64_t m_context = 0;
    std::int64_t m_held = -1;
    std::int64_t m_draftTokens = 0;
    std::int64_t m_written = 0;
    quint64 m_asked = 0;
};

}  // namespace quern::ui
