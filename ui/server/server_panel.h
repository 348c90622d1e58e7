#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <QTimer>

#include "ui/core/notices.h"
#include "ui/core/worker.h"
#include "ui/models/model_host.h"
#include "ui/ports/server_control.h"
#include "ui/ports/settings_store.h"

namespace quern::ui {

/// The server screen: the switch, its address and key, and what it is doing. GUI thread; the
/// server is started, stopped and asked on its worker.
class ServerPanel : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(bool isOn READ isOn NOTIFY changed)
    Q_PROPERTY(bool isSwitching MEMBER m_isSwitching NOTIFY changed)
    Q_PROPERTY(QString host READ host WRITE setHost NOTIFY settingsChanged)
    Q_PROPERTY(int port READ port WRITE setPort NOTIFY settingsChanged)
    Q_PROPERTY(QString apiKey READ apiKey WRITE setApiKey NOTIFY settingsChanged)
    Q_PROPERTY(QString address READ address NOTIFY changed)
    Q_PROPERTY(QString problem MEMBER m_problem NOTIFY changed)
    Q_PROPERTY(QString connections READ connections NOTIFY changed)
    Q_PROPERTY(QString served READ served NOTIFY changed)
    Q_PROPERTY(QString active READ active NOTIFY changed)
    Q_PROPERTY(bool isOpenToNetwork READ isOpenToNetwork NOTIFY changed)
    Q_PROPERTY(bool isWatched MEMBER m_isWatched WRITE setWatched NOTIFY changed)

public:
    ServerPanel(ServerControl& server, SettingsStore& settings, ModelHost& models, Worker& worker,
                QObject* parent = nullptr);

    Q_INVOKABLE void turn(bool isOn);
    Q_INVOKABLE void makeKey();
    /// A ready-to-paste example: "curl", "python".
    Q_INVOKABLE [[nodiscard]] QString example(const QString& kind) const;

    void setWatched(bool isWatched);
    [[nodiscard]] bool isOn() const { return m_status.isRunning; }
    [[nodiscard]] QString host() const { return QString::fromStdString(m_settings.host); }
    void setHost(const QString& host);
    [[nodiscard]] int port() const { return m_settings.port; }
    void setPort(int port);
    [[nodiscard]] QString apiKey() const { return QString::fromStdString(m_settings.apiKey); }
    void setApiKey(const QString& key);
    [[nodiscard]] QString address() const;  // where it is, or will be, reached
    [[nodiscard]] QString connections() const;
    [[nodiscard]] QString served() const;
    [[nodiscard]] QString active() const;
    [[nodiscard]] bool isOpenToNetwork() const;

signals:
    /// The server's state, and what follows from state and settings.
    void changed();
    /// Apart from `changed`, which comes twice a second: it would undo what is being typed.
    void settingsChanged();
    /// A switch that failed; `reason` is in `problem` too.
    void failed(const QString& reason);

private:
    void refresh();
    void remember(const std::string& key, const std::string& value);
    void setProblem(const QString& problem);
    void settingsSet();

    ServerControl& m_server;
    SettingsStore& m_store;
    ModelHost& m_models;
    Worker& m_worker;
    QTimer m_timer;
    ServerSettings m_settings;
    ServerStatus m_status;
    QString m_problem;
    bool m_isSwitching = false;
    bool m_isWatched = false;
};

}  // namespace quern::ui
