#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>

#include "kernels/result.h"

namespace quern::ui {

/// The one message bar on top of the window: an error that persists until it is dealt with or
/// dismissed. The newest wins. GUI thread.
class Notices : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(QString text READ text NOTIFY changed)
    Q_PROPERTY(QString cause READ cause NOTIFY changed)
    Q_PROPERTY(QString actionText READ actionText NOTIFY changed)

public:
    using QObject::QObject;

    void show(const QString& text, const QString& cause = {}, const QString& actionText = {},
              const QString& action = {});
    /// `what` says what was tried: "The reply could not be saved".
    void show(const QString& what, const Error& error, const QString& actionText = {},
              const QString& action = {});
    Q_INVOKABLE void dismiss();
    /// Does the action and dismisses.
    Q_INVOKABLE void act();

    [[nodiscard]] QString text() const { return m_text; }
    [[nodiscard]] QString cause() const { return m_cause; }
    [[nodiscard]] QString actionText() const { return m_actionText; }

signals:
    void changed();
    void acted(const QString& action);

private:
    QString m_text;
    QString m_cause;
    QString m_actionText;
    QString m_action;
};

}  // namespace quern::ui
