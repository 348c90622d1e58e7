#include "ui/server/server_panel.h"

#include <QRandomGenerator>

#include "ui/text/format.h"

namespace quern::ui {
namespace {
constexpr int kRefreshMs = 500;
constexpr int kKeyChars = 32;
}  // namespace

ServerPanel::ServerPanel(ServerControl& server, SettingsStore& settings, ModelHost& models,
                         Worker& worker, QObject* parent)
    : QObject(parent), m_server(server), m_store(settings), m_models(models), m_worker(worker) {
    m_settings.host = m_store.get("server.host").value_or(m_settings.host);
    m_settings.apiKey = m_store.get("server.apiKey").value_or("");
    bool isNumber = false;
    const int port =
        QString::fromStdString(m_store.get("server.port").value_or("")).toInt(&isNumber);
    if (isNumber && port > 0 && port <= 65535) {
        m_settings.port = static_cast<std::uint16_t>(port);
    }
    m_timer.setInterval(kRefreshMs);
    connect(&m_timer, &QTimer::timeout, this, &ServerPanel::refresh);
    connect(&models, &ModelHost::changed, this, &ServerPanel::changed);
    refresh();
}

void ServerPanel::setWatched(bool isWatched) {
    if (m_isWatched == isWatched) {
        return;
    }
    m_isWatched = isWatched;
    if (isWatched) {
        m_timer.start();
        refresh();
    } else {
        m_timer.stop();
    }
    emit changed();
}

void ServerPanel::refresh() {
    m_worker.ask(
        this, [this] { return m_server.status(); },
        [this](ServerStatus status) {
            m_status = std::move(status);
            emit changed();
        });
}

void ServerPanel::turn(bool isOn) {
    if (m_isSwitching || isOn == m_status.isRunning) {
        return;
    }
    m_isSwitching = true;
    m_problem.clear();
    emit changed();
    m_worker.ask(
        this,
        [this, isOn, settings = m_settings]() -> Status {
            if (isOn) {
                return m_server.start(settings);
            }
            m_server.stop();
            return {};
        },
        [this, isOn](Status result) {
            m_isSwitching = false;
            if (result) {
                remember("server.isOn", isOn ? "true" : "false");
            } else {
                const QString reason = QString::fromStdString(result.error().message);
                setProblem(tr("The server did not start: %1").arg(reason));
                emit failed(reason);
            }
            refresh();
        });
}

void ServerPanel::remember(const std::string& key, const std::string& value) {
    m_worker.ask(
        this, [this, key, value] { return m_store.set(key, value); },
        [this](Status result) {
            if (!result) {
                setProblem(tr("This could not be remembered for the next start: %1")
                               .arg(QString::fromStdString(result.error().message)));
            }
        });
}

void ServerPanel::setProblem(const QString& problem) {
    m_problem = problem;
    emit changed();
}

void ServerPanel::settingsSet() {
    emit settingsChanged();
    emit changed();
}

void ServerPanel::setHost(const QString& host) {
    m_settings.host = host.trimmed().toStdString();
    remember("server.host", m_settings.host);
    settingsSet();
}

void ServerPanel::setPort(int port) {
    if (port > 0 && port <= 65535 && port != m_settings.port) {
        m_settings.port = static_cast<std::uint16_t>(port);
        remember("server.port", std::to_string(port));
    }
    settingsSet();
}

void ServerPanel::setApiKey(const QString& key) {
    m_settings.apiKey = key.trimmed().toStdString();
    remember("server.apiKey", m_settings.apiKey);
    settingsSet();
}

void ServerPanel::makeKey() {
    static constexpr char kLetters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    QString key = QStringLiteral("qk-");
    for (int i = 0; i < kKeyChars; ++i) {
        key += QLatin1Char(kLetters[QRandomGenerator::system()->bounded(
            static_cast<quint32>(sizeof(kLetters) - 1))]);
    }
    setApiKey(key);
}

QString ServerPanel::address() const {
    if (m_status.isRunning && !m_status.address.empty()) {
        return QString::fromStdString(m_status.address);
    }
    return QStringLiteral("http://%1:%2").arg(host()).arg(port());
}

QString ServerPanel::connections() const {
    return formatCount(m_status.connections);
}
QString ServerPanel::served() const {
    return formatCount(m_status.requestsServed);
}
QString ServerPanel::active() const {
    return formatCount(m_status.requestsActive);
}

bool ServerPanel::isOpenToNetwork() const {
    return m_settings.host != "127.0.0.1" && m_settings.host != "localhost" &&
           m_settings.host != "::1";
}

QString ServerPanel::example(const QString& kind) const {
    const QString model = m_models.hasModel() ? m_models.currentName() : QStringLiteral("starter");
    const QString key = m_settings.apiKey.empty() ? QString() : apiKey();
    if (kind == QLatin1String("curl")) {
        return QStringLiteral(
                   "curl %1/v1/chat/completions \\\n"
                   "%2  -H 'Content-Type: application/json' \\\n"
                   "  -d '{\"model\": \"%3\",\n"
                   "       \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'")
            .arg(address(),
                 key.isEmpty() ? QString()
                               : QStringLiteral("  -H 'Authorization: Bearer %1' \\\n").arg(key),
                 model);
    }
    return QStringLiteral(
               "from openai import OpenAI\n\n"
               "client = OpenAI(base_url=\"%1/v1\",\n"
               "                api_key=\"%2\")\n"
               "reply = client.chat.completions.create(\n"
               "    model=\"%3\",\n"
               "    messages=[{\"role\": \"user\", \"content\": \"Hello\"}])\n"
               "print(reply.choices[0].message.content)")
        .arg(address(), key.isEmpty() ? QStringLiteral("none") : key, model);
}

}  // namespace quern::ui
