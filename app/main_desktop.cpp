#include <QCommandLineParser>
#include <QFileInfo>
#include <QGuiApplication>
#include <algorithm>
#include <cstdio>

#include "app/wiring/desktop/demo_app.h"
#include "app/wiring/desktop/desktop_app.h"
#include "ui/desktop.h"
#include "ui/single_instance.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int complain(int status, const QString& what) {
    std::fprintf(stderr, "quern-desktop: %s\n", qPrintable(what));
    return status;
}

void addOptions(QCommandLineParser& parser) {
    parser.setApplicationDescription(QStringLiteral("Quern, the window."));
    parser.addHelpOption();
    parser.addVersionOption();
    const auto add = [&parser](const char* name, const char* text, const char* value) {
        parser.addOption({QLatin1String(name), QLatin1String(text), QLatin1String(value)});
    };
    add("data-dir", "Keeps everything in this folder.", "folder");
    add("model", "Loads this model at once: a path, or a name of the models folder.", "model");
    add("lang", "Language of the window.", "language");
    add("demo", "Shows a made-up scene, without any model.", "scene");
    add("shot", "With --demo: writes one picture and ends.", "file.png");
    add("theme", "With --demo: light or dark.", "theme");
    add("size", "With --demo: of the picture, such as 1280x800.", "size");
    add("text", "With --demo: text size in percent, 100 to 150.", "percent");
    parser.addPositionalArgument(QStringLiteral("file"), QStringLiteral("A model file to open."),
                                 QStringLiteral("[file]"));
}

int runDemo(QGuiApplication& app, const QCommandLineParser& parser) {
    quern::app::DemoOptions demo;
    demo.scene = parser.value(QStringLiteral("demo"));
    demo.shot = parser.value(QStringLiteral("shot"));
    if (parser.isSet(QStringLiteral("theme"))) {
        demo.theme = parser.value(QStringLiteral("theme"));
    }
    if (parser.isSet(QStringLiteral("text"))) {
        demo.textScale = parser.value(QStringLiteral("text")).toDouble() / 100;
    }
    if (parser.isSet(QStringLiteral("size"))) {
        const QString size = parser.value(QStringLiteral("size"));
        const QStringList parts = size.split(QLatin1Char('x'));
        if (parts.size() != 2 || parts[0].toInt() < 1 || parts[1].toInt() < 1) {
            return complain(kUsage,
                            QStringLiteral("--size wants WIDTHxHEIGHT, not \"%1\"").arg(size));
        }
        demo.size = QSize(parts[0].toInt(), parts[1].toInt());
    }
    return quern::app::runDemo(app, demo);
}

int runWindow(const QCommandLineParser& parser) {
    const std::string folder = parser.value(QStringLiteral("data-dir")).toStdString();
    const quern::Result<QString> key = quern::app::instanceKey(folder);
    if (!key) {
        return complain(kFailed, QString::fromStdString(key.error().message));
    }
    QString file = parser.positionalArguments().value(0);
    if (!file.isEmpty()) {
        file = QFileInfo(file).absoluteFilePath();
    }
    quern::ui::SingleInstance instance(*key);
    if (instance.handOver(file)) {
        return 0;
    }
    (void)instance.listen();  // without a socket there may be two windows: no harm to the data
    const auto app = quern::app::DesktopApp::create(
        {.dataFolder = folder, .model = parser.value(QStringLiteral("model")), .file = file});
    if (!app) {
        return complain(kFailed, QString::fromStdString(app.error().message));
    }
    if (!(*app)->desktop().show()) {
        return complain(kFailed, QStringLiteral("the window could not be made"));
    }
    QObject::connect(&instance, &quern::ui::SingleInstance::asked, &instance,
                     [&app](const QString& asked) { (*app)->desktop().open(asked); });
    return QGuiApplication::exec();
}

/// Stills are drawn without a display, by the software renderer, alike on every machine; texts need
/// none either.
void chooseDisplay(const QList<QByteArray>& arguments) {
    const auto isShot = [](const QByteArray& argument) { return argument.startsWith("--shot"); };
    if (std::any_of(arguments.begin(), arguments.end(), isShot)) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
        qputenv("QT_QUICK_BACKEND", "software");
        qputenv("QT_SCALE_FACTOR", "1");
        qputenv("TZ", "UTC");
    }
    for (const char* text : {"-h", "--help", "--help-all", "-v", "--version"}) {
        if (arguments.contains(text)) {
            qputenv("QT_QPA_PLATFORM", "offscreen");
        }
    }
}

bool hasDisplay(const QList<QByteArray>& arguments) {
    return arguments.contains("-platform") || qEnvironmentVariableIsSet("QT_QPA_PLATFORM") ||
           qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
}

}  // namespace

int main(int argc, char** argv) {
    const QList<QByteArray> arguments(argv + 1, argv + argc);
    chooseDisplay(arguments);
    if (!hasDisplay(arguments)) {
        return complain(kFailed, QStringLiteral("there is no display here; in the terminal, "
                                                "quern chat talks to a model"));
    }
    QGuiApplication app(argc, argv);
    QCoreApplication::setApplicationVersion(QStringLiteral(QUERN_VERSION));
    QCommandLineParser parser;
    addOptions(parser);
    parser.process(app);
    quern::ui::prepareApplication(app, parser.value(QStringLiteral("lang")));
    const bool isDemo = parser.isSet(QStringLiteral("demo"));
    const QString shot = QStringLiteral("shot");
    if (parser.isSet(shot) && (!isDemo || parser.value(shot).isEmpty())) {
        return complain(kUsage, QStringLiteral("--shot wants a file, and a scene by --demo"));
    }
    return isDemo ? runDemo(app, parser) : runWindow(parser);
}
