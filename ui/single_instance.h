#pragma once

#include <QLocalServer>
#include <QObject>
#include <QString>

namespace quern::ui {

/// One window for each data folder: a second start hands its file to the first and ends.
/// GUI thread.
class SingleInstance : public QObject {
    Q_OBJECT

public:
    /// `key` tells windows apart that may run side by side: the path of the data folder.
    explicit SingleInstance(const QString& key, QObject* parent = nullptr);

    /// True when a running window took the file (an absolute path or nothing) and came to front.
    [[nodiscard]] bool handOver(const QString& file) const;
    /// Makes this the window that others hand over to. False when the socket cannot be made: then
    /// a second start opens a second window, which is no harm to the data.
    [[nodiscard]] bool listen();

signals:
    void asked(const QString& file);

private:
    QString m_name;
    QLocalServer m_server;
};

}  // namespace quern::ui
