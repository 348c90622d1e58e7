#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <memory>

#include "ui/chat/chat.h"
#include "ui/core/engine_feed.h"
#include "ui/core/notices.h"
#include "ui/core/worker.h"
#include "ui/look/theme.h"
#include "ui/models/model_host.h"
#include "ui/models/model_shelf.h"
#include "ui/monitor/monitor.h"
#include "ui/ports/desktop_ports.h"
#include "ui/ports/start_trouble.h"
#include "ui/server/server_panel.h"

namespace quern::ui {

/// The window's objects and workers, and what is remembered between starts. QML reaches all of it
/// by this name. GUI thread; one per QML engine.
class Session : public QObject {
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON
    Q_PROPERTY(quern::ui::Chat* chat READ chat CONSTANT)
    Q_PROPERTY(quern::ui::ModelHost* host READ host CONSTANT)
    Q_PROPERTY(quern::ui::ModelShelf* shelf READ shelf CONSTANT)
    Q_PROPERTY(quern::ui::Monitor* monitor READ monitor CONSTANT)
    Q_PROPERTY(quern::ui::ServerPanel* server READ server CONSTANT)
    Q_PROPERTY(quern::ui::EngineFeed* feed READ feed CONSTANT)
    Q_PROPERTY(quern::ui::Notices* notices READ notices CONSTANT)
    Q_PROPERTY(QString appearance READ appearance WRITE setAppearance NOTIFY appearanceChanged)
    Q_PROPERTY(qreal textScale READ textScale WRITE setTextScale NOTIFY appearanceChanged)
    Q_PROPERTY(bool isStill READ isStill WRITE setStill NOTIFY appearanceChanged)
    Q_PROPERTY(QString screen MEMBER m_screen WRITE setScreen NOTIFY screenChanged)
    Q_PROPERTY(
        bool isInspectorOpen MEMBER m_isInspectorOpen WRITE setInspectorOpen NOTIFY screenChanged)

public:
    /// `theme` must outlive it.
    Session(const DesktopPorts& ports, Theme& theme, QObject* parent = nullptr);
    ~Session() override;
    /// The session given to the engine with `attach`.
    static Session* create(QQmlEngine* qml, QJSEngine* js);
    void attach(QQmlEngine& qml);

    [[nodiscard]] Chat* chat() { return &m_chat; }
    [[nodiscard]] ModelHost* host() { return &m_host; }
    [[nodiscard]] ModelShelf* shelf() { return &m_shelf; }
    [[nodiscard]] Monitor* monitor() { return &m_monitor; }
    [[nodiscard]] ServerPanel* server() { return &m_server; }
    [[nodiscard]] EngineFeed* feed() { return &m_feed; }
    [[nodiscard]] Notices* notices() { return &m_notices; }

    [[nodiscard]] QString appearance() const { return m_appearance; }  // system, light, dark
    void setAppearance(const QString& appearance);
    [[nodiscard]] qreal textScale() const { return m_theme.textScale(); }
    void setTextScale(qreal scale);
    [[nodiscard]] bool isStill() const { return m_theme.isStill(); }
    void setStill(bool isStill);
    void setScreen(const QString& screen);
    void setInspectorOpen(bool isOpen);
    /// A remembered value of the window itself, such as its size; empty when there is none.
    Q_INVOKABLE [[nodiscard]] QString remembered(const QString& key) const;
    Q_INVOKABLE void remember(const QString& key, const QString& value);

    /// Says what was wrong at the start, and what comes of it.
    void tell(const std::vector<StartTrouble>& troubles);
    /// Opens what a user asked for from outside: a model file.
    void openFile(const QString& path);
    /// True when no worker has anything to do, apart from a load that goes on, and no reply is
    /// still to be placed.
    [[nodiscard]] bool isIdle() const;

signals:
    void appearanceChanged();
    void screenChanged();
    /// Somebody wants the window in front.
    void raiseAsked();

private:
    void applyAppearance();

    Theme& m_theme;
    SettingsStore& m_settings;
    // The workers end first, in ~Session: nothing they run may outlive what it works on.
    std::unique_ptr<Worker> m_countWorker = std::make_unique<Worker>();
    std::unique_ptr<Worker> m_loadWorker = std::make_unique<Worker>();
    std::unique_ptr<Worker> m_liveWorker = std::make_unique<Worker>();
    std::unique_ptr<Worker> m_storeWorker = std::make_unique<Worker>();
    std::unique_ptr<Worker> m_libraryWorker = std::make_unique<Worker>();
    Notices m_notices;
    EngineFeed m_feed;
    ModelHost m_host;
    ModelShelf m_shelf;
    Monitor m_monitor;
    ServerPanel m_server;
    Chat m_chat;
    QString m_appearance;
    QString m_screen = QStringLiteral("chat");
    bool m_isInspectorOpen = false;
    bool m_isSettingLossTold = false;  // once, not with each setting
};

}  // namespace quern::ui
