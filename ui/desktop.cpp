#include "ui/desktop.h"

#include <QElapsedTimer>
#include <QFont>
#include <QGuiApplication>
#include <QImage>
#include <QLocale>
#include <QQmlApplicationEngine>
#include <QQmlExtensionPlugin>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QThread>
#include <QTranslator>

#include "ui/look/theme.h"
#include "ui/session.h"

Q_IMPORT_QML_PLUGIN(QuernPlugin)

namespace quern::ui {
namespace {

// Nothing has happened for this long and over so many rounds of the event loop (on a busy machine
// one round may take longer than that): the picture stands.
constexpr int kQuietMs = 300;
constexpr int kQuietRounds = 30;

void addTranslation(QGuiApplication& app, const QLocale& locale) {
    auto* translator = new QTranslator(&app);
    if (translator->load(locale, QStringLiteral("quern"), QStringLiteral("_"),
                         QStringLiteral(":/i18n"))) {
        QGuiApplication::installTranslator(translator);
    } else {
        delete translator;
    }
}

}  // namespace

void prepareApplication(QGuiApplication& app, const QString& language) {
    QGuiApplication::setApplicationName(QStringLiteral("quern"));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Quern"));
    QGuiApplication::setDesktopFileName(QStringLiteral("quern"));
    QQuickStyle::setStyle(QStringLiteral("Basic"));
    // English first: it brings the plural forms, and serves where a translation has none.
    addTranslation(app, QLocale(QStringLiteral("en")));
    if (language == QLatin1String("en_XA")) {
        // Not a locale that Qt knows: numbers stay English.
        QLocale::setDefault(QLocale(QStringLiteral("en")));
        auto* translator = new QTranslator(&app);
        if (translator->load(QStringLiteral(":/i18n/quern_en_XA.qm"))) {
            QGuiApplication::installTranslator(translator);
        } else {
            delete translator;
        }
        return;
    }
    if (!language.isEmpty()) {
        QLocale::setDefault(QLocale(language));
    }
    addTranslation(app, QLocale());
}

struct Desktop::State {
    Theme theme{nullptr};
    Session session;
    QQmlApplicationEngine qml;  // goes first: it shows the session

    explicit State(const DesktopPorts& ports) : session(ports, theme) {}
    [[nodiscard]] QQuickWindow* window() const {
        return qml.rootObjects().isEmpty() ? nullptr
                                           : qobject_cast<QQuickWindow*>(qml.rootObjects().first());
    }
};

Desktop::Desktop(const DesktopPorts& ports, const DesktopOptions& options)
    : m_state(std::make_unique<State>(ports)) {
    QFont font(m_state->theme.sans());
    font.setPixelSize(m_state->theme.body());
    QGuiApplication::setFont(font);
    m_state->theme.attach(m_state->qml);
    m_state->session.attach(m_state->qml);
    m_state->session.tell(options.troubles);
    if (!options.loadModel.isEmpty()) {
        m_state->session.shelf()->quickLoad(options.loadModel);
    }
    if (!options.openFile.isEmpty()) {
        m_state->session.openFile(options.openFile);
    }
    if (options.startsServer) {
        m_state->session.server()->turn(true);
    }
}

Desktop::~Desktop() = default;

Session& Desktop::session() {
    return m_state->session;
}

bool Desktop::show() {
    m_state->qml.load(QUrl(QStringLiteral("qrc:/Quern/qml/Main.qml")));
    return m_state->window() != nullptr;
}

void Desktop::open(const QString& file) {
    m_state->session.openFile(file);
}

bool Desktop::shoot(const QString& file, QSize size, int patienceMs) {
    QQuickWindow* window = m_state->window();
    if (window == nullptr) {
        return false;
    }
    window->resize(size);
    QElapsedTimer total;
    QElapsedTimer quiet;
    total.start();
    quiet.start();
    int rounds = 0;
    while (total.elapsed() < patienceMs && (quiet.elapsed() < kQuietMs || rounds < kQuietRounds)) {
        ++rounds;
        QGuiApplication::processEvents(QEventLoop::AllEvents, 10);
        QThread::msleep(2);
        if (!m_state->session.isIdle()) {
            quiet.restart();
            rounds = 0;
        }
    }
    const QImage image = window->grabWindow();
    return !image.isNull() && image.convertToFormat(QImage::Format_RGB32).save(file, "PNG");
}

}  // namespace quern::ui
