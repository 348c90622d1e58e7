#include "ui/core/notices.h"

namespace quern::ui {

void Notices::show(const QString& text, const QString& cause, const QString& actionText,
                   const QString& action) {
    m_text = text;
    m_cause = cause;
    m_actionText = actionText;
    m_action = action;
    emit changed();
}

void Notices::show(const QString& what, const Error& error, const QString& actionText,
                   const QString& action) {
    QString cause = QString::fromStdString(error.message);
    if (!error.cause.empty()) {
        cause += QStringLiteral(" (%1)").arg(QString::fromStdString(error.cause));
    }
    show(what, cause, actionText, action);
}

void Notices::dismiss() {
    show(QString());
}

void Notices::act() {
    const QString action = m_action;
    dismiss();
    emit acted(action);
}

}  // namespace quern::ui
