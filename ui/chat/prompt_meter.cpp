#include "ui/chat/prompt_meter.h"

#include <utility>

#include "ui/text/format.h"

namespace quern::ui {
namespace {
constexpr int kPauseMs = 150;
}

PromptMeter::PromptMeter(ReplyService& service, Worker& worker, QObject* parent)
    : QObject(parent), m_service(service), m_worker(worker) {
    m_delay.setSingleShot(true);
    m_delay.setInterval(kPauseMs);
    connect(&m_delay, &QTimer::timeout, this, &PromptMeter::count);
}

void PromptMeter::setSubject(std::optional<ReplyOrder> subject, std::int64_t contextTokens) {
    m_subject = std::move(subject);
    m_context = contextTokens;
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
    if (!m_subject) {
        m_held = -1;
        emit changed();
        return;
    }
    m_worker.ask(
        this,
        [this, order = *m_subject, draft = m_draft.trimmed().toStdString()]() mutable {
            if (!draft.empty()) {
                order.message = std::move(draft);
            }
            Result<PromptSize> size = m_service.measure(order);
            if (!size && order.message) {
                // The template refuses the draft, say: what is held can be told all the same.
                order.message.reset();
                size = m_service.measure(order);
            }
            return size.value_or(PromptSize{});
        },
        [this, asked](const PromptSize& size) {
            if (asked == m_asked) {
                m_held = size.held;
                m_draftTokens = size.draft;
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
