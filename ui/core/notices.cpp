#include "ui/core/notices.h"

namespace quern::ui {

void Notices::show(const QString& text, const QString& cause, const QString& actionText,
                   const QString& action) {
    std::erase_if(m_notices, [&text](const Notice& notice) { return notice.text == text; });
    m_notices.push_back({text, cause, actionText, action});
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

void Notices::withdraw(const QString& text) {
    if (std::erase_if(m_notices, [&](const Notice& notice) { return notice.text == text; }) > 0) {
        emit changed();
    }
}

void Notices::dismiss() {
    if (!m_notices.empty()) {
        m_notices.pop_back();
        emit changed();
    }
}

void Notices::act() {
    const QString action = shown().action;
    dismiss();
    emit acted(action);
}

int Notices::waiting() const {
    return m_notices.empty() ? 0 : static_cast<int>(m_notices.size()) - 1;
}

}  // namespace quern::ui
