#include "ui/session.h"

#include <QGuiApplication>
#include <QPalette>
#include <QQmlEngine>
#include <algorithm>
#include <array>

#include "ui/core/trouble_words.h"

namespace quern::ui {
namespace {
constexpr auto kEngineProperty = "quernSession";

constexpr std::array kScreens{"chat", "models", "monitor", "server", "settings"};

bool isSystemDark() {
    const QPalette palette = QGuiApplication::palette();
    return palette.color(QPalette::WindowText).lightness() >
           palette.color(QPalette::Window).lightness();
}
}  // namespace

Session::Session(const DesktopPorts& ports, Theme& theme, QObject* parent)
    : QObject(parent),
      m_theme(theme),
      m_settings(ports.settings),
      m_feed(ports.engine, *m_liveWorker),
      m_host(ports.engine, *m_loadWorker, m_notices),
      m_shelf(ports.library, m_host, *m_libraryWorker, m_notices),
      m_monitor(ports.engine, *m_liveWorker, m_feed, m_host, theme),
      m_server(ports.server, ports.settings, m_host, *m_libraryWorker),
      m_chat(ports.replies, *m_countWorker, ports.conversations, *m_storeWorker, m_host, m_feed,
             m_notices, theme) {
    m_appearance = QString::fromStdString(m_settings.get("appearance.theme").value_or("system"));
    m_isInspectorOpen = remembered(QStringLiteral("window.inspector")) == QLatin1String("true");
    if (const QString screen = remembered(QStringLiteral("window.screen"));
        std::find(kScreens.begin(), kScreens.end(), screen) != kScreens.end()) {
        m_screen = screen;
    }
    m_chat.open(remembered(QStringLiteral("window.conversation")).toLongLong());
    connect(&m_chat, &Chat::opened, this, [this] {
        remember(QStringLiteral("window.conversation"), QString::number(m_chat.conversation()));
    });
    bool isNumber = false;
    const qreal scale = remembered(QStringLiteral("appearance.textScale")).toDouble(&isNumber);
    if (isNumber) {
        m_theme.setTextScale(scale);
    }
    m_theme.setStill(remembered(QStringLiteral("appearance.still")) == QLatin1String("true"));
    applyAppearance();
    connect(&m_notices, &Notices::acted, this, [this](const QString& action) {
        if (action == QLatin1String("saveReplies")) {
            m_chat.saveRepliesAgain();
        } else {
            setScreen(action);
        }
    });
    connect(&m_server, &ServerPanel::failed, this, [this](const QString& reason) {
        // At the start, say: the switch was left on.
        if (m_screen != QLatin1String("server")) {
            m_notices.show(tr("The server did not start."), reason, tr("Open Server"),
                           QStringLiteral("server"));
        }
    });
}

Session::~Session() {
    m_chat.close();
    m_host.cancelLoad();
    m_countWorker.reset();
    m_loadWorker.reset();
    m_liveWorker.reset();
    m_libraryWorker.reset();
    m_storeWorker.reset();
}

Session* Session::create(QQmlEngine* qml, QJSEngine*) {
    auto* given = qvariant_cast<Session*>(qml->property(kEngineProperty));
    if (given != nullptr) {
        QQmlEngine::setObjectOwnership(given, QQmlEngine::CppOwnership);
    }
    return given;
}

void Session::attach(QQmlEngine& qml) {
    qml.setProperty(kEngineProperty, QVariant::fromValue(this));
}

void Session::applyAppearance() {
    m_theme.setDark(m_appearance == QLatin1String("dark") ||
                    (m_appearance != QLatin1String("light") && isSystemDark()));
}

void Session::setAppearance(const QString& appearance) {
    if (m_appearance != appearance) {
        m_appearance = appearance;
        applyAppearance();
        remember(QStringLiteral("appearance.theme"), appearance);
        emit appearanceChanged();
    }
}

void Session::setTextScale(qreal scale) {
    m_theme.setTextScale(scale);
    remember(QStringLiteral("appearance.textScale"), QString::number(m_theme.textScale()));
    emit appearanceChanged();
}

void Session::setStill(bool isStill) {
    m_theme.setStill(isStill);
    remember(QStringLiteral("appearance.still"),
             isStill ? QStringLiteral("true") : QStringLiteral("false"));
    emit appearanceChanged();
}

void Session::setScreen(const QString& screen) {
    if (m_screen != screen) {
        m_screen = screen;
        remember(QStringLiteral("window.screen"), screen);
        emit screenChanged();
    }
}

void Session::setInspectorOpen(bool isOpen) {
    if (m_isInspectorOpen != isOpen) {
        m_isInspectorOpen = isOpen;
        remember(QStringLiteral("window.inspector"),
                 isOpen ? QStringLiteral("true") : QStringLiteral("false"));
        emit screenChanged();
    }
}

QString Session::remembered(const QString& key) const {
    return QString::fromStdString(m_settings.get(key.toStdString()).value_or(""));
}

void Session::remember(const QString& key, const QString& value) {
    m_libraryWorker->ask(
        this,
        [this, key = key.toStdString(), value = value.toStdString()] {
            return m_settings.set(key, value);
        },
        [this](Status result) {
            if (!result && !m_isSettingLossTold) {
                m_notices.show(tr("A setting could not be saved."), result.error());
            }
            m_isSettingLossTold = !result;
        });
}

void Session::tell(const std::vector<StartTrouble>& troubles) {
    for (const StartTrouble& trouble : troubles) {
        const TroubleWords words = wordsOf(trouble);
        m_notices.show(words.text, words.cause);
        const bool isLost = trouble.outcome != StartTrouble::Outcome::kSetAside;
        if (trouble.file == StartTrouble::File::kSettings) {
            m_isSettingLossTold = m_isSettingLossTold || isLost;
        } else if (isLost) {
            m_chat.conversations()->setPassing();
        }
    }
}

void Session::openFile(const QString& path) {
    if (!path.isEmpty()) {
        setScreen(QStringLiteral("models"));
        m_shelf.addPath(path);
    }
    emit raiseAsked();
}

bool Session::isIdle() const {
    const bool isLoadSettled = m_loadWorker->isIdle() || m_host.isLoading();
    return isLoadSettled && !m_chat.isPreparing() && m_countWorker->isIdle() &&
           m_liveWorker->isIdle() && m_storeWorker->isIdle() && m_libraryWorker->isIdle();
}

}  // namespace quern::ui
