#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <vector>

#include "kernels/result.h"

namespace quern::ui {

/// The one message bar on top of the window: an error that persists until it is dealt with or
/// dismissed. The newest is shown; behind it wait those that were not dealt with, each once. GUI
/// thread.
class Notices : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(QString text READ text NOTIFY changed)
    Q_PROPERTY(QString cause READ cause NOTIFY changed)
    Q_PROPERTY(QString actionText READ actionText NOTIFY changed)
    Q_PROPERTY(int waiting READ waiting NOTIFY changed)

public:
    using QObject::QObject;

    void show(const QString& text, const QString& cause = {}, const QString& actionText = {},
              const QString& action = {});
    /// `what` says what was tried: "The reply could not be saved".
    void show(const QString& what, const Error& error, const QString& actionText = {},
              const QString& action = {});
    /// Takes back what is true no longer, shown or waiting. Ignored where it is not there.
    void withdraw(const QString& text);
    Q_INVOKABLE void dismiss();
    /// Dismisses and does the action.
    Q_INVOKABLE void act();

    [[nodiscard]] QString text() const { return shown().text; }
    [[nodiscard]] QString cause() const { return shown().cause; }
    [[nodiscard]] QString actionText() const { return shown().actionText; }
    /// How many are behind the one that is shown.
    [[nodiscard]] int waiting() const;

signals:
    void changed();
    void acted(const QString& action);

private:
    struct Notice {
        QString text;
        QString cause;
        QString actionText;
        QString action;
    };
    [[nodiscard]] Notice shown() const { return m_notices.empty() ? Notice() : m_notices.back(); }

    std::vector<Notice> m_notices;  // the newest last
};

}  // namespace quern::ui
