#include "ui/chat/prompt_meter.h"

#include <algorithm>
#include <utility>

#include "ui/text/format.h"

namespace quern::ui {
namespace {
constexpr int kPauseMs = 150;
}

PromptMeter::PromptMeter(Worker& worker, QObject* parent) : QObject(parent), m_worker(worker) {
    m_delay.setSingleShot(true);
    m_delay.setInterval(kPauseMs);
    connect(&m_delay, &QTimer::timeout, this, &PromptMeter::count);
}

void PromptMeter::setSubject(std::shared_ptr<const engine::LoadedModel> model,
                             ConversationSettings settings, std::vector<Turn> path) {
    m_model = std::move(model);
    m_settings = std::move(settings);
    m_path = std::move(path);
    m_context = m_model ? m_model->options.contextTokens : 0;
    m_written = 0;
    count();
}

void PromptMeter::setDraft(const QString& draft) {
    if (m_draft != draft) {
        m_draft = draft;
        m_delay.start();
    }
}

void PromptMeter::setWritten(int tokens) {
    m_written = tokens;
    emit changed();
}

void PromptMeter::count() {
    const quint64 asked = ++m_asked;
    if (!m_model) {
        m_held = -1;
        emit changed();
        return;
    }
    struct Counts {
        std::int64_t held = -1;
        std::int64_t draft = 0;
    };
    m_worker.ask(
        this,
        [model = m_model, settings = m_settings, path = m_path,
         draft = m_draft.trimmed().toStdString()]() mutable {
            Counts counts;
            const auto before = countPromptTokens(*model, promptMessages(settings, path), false);
            // Some templates refuse an empty conversation: then there is nothing held.
            counts.held = before.value_or(0);
            if (!draft.empty()) {
                Turn turn;
                turn.role = "user";
                turn.text = std::move(draft);
                path.push_back(std::move(turn));
                const auto after = countPromptTokens(*model, promptMessages(settings, path), true);
                counts.draft = std::max<std::int64_t>(0, after.value_or(counts.held) - counts.held);
            }
            return counts;
        },
        [this, asked](Counts counts) {
            if (asked == m_asked) {
                m_held = counts.held;
                m_draftTokens = counts.draft;
                emit changed();
            }
        });
}

QString PromptMeter::text() const {
    if (!isKnown()) {
        return {};
    }
    const QString held = formatCount(m_held + m_written);
    return (m_draftTokens > 0 ? QStringLiteral("%1 + %2 / %3").arg(held, formatCount(m_draftTokens))
                              : QStringLiteral("%1 / %2").arg(held))
        .arg(formatCount(m_context));
}

double PromptMeter::fill() const {
    return isKnown() ? static_cast<double>(used()) / static_cast<double>(m_context) : 0;
}

}  // namespace quern::ui
