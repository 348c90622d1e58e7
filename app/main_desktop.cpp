#include <QCommandLineParser>
#include <QGuiApplication>
#include <cstdio>

#include "ui/demo/demo.h"
#include "ui/desktop.h"

namespace {

int usage(const QString& what) {
    std::fprintf(stderr, "quern-desktop: %s\n", qPrintable(what));
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        // Stills are drawn without a display, by the software renderer, alike on every machine.
        if (qstrcmp(argv[i], "--shot") == 0) {
            qputenv("QT_QPA_PLATFORM", "offscreen");
            qputenv("QT_QUICK_BACKEND", "software");
            qputenv("QT_SCALE_FACTOR", "1");
            qputenv("TZ", "UTC");
        }
    }
    QGuiApplication app(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOptions(
        {{QStringLiteral("demo"), QStringLiteral("Shows a made-up scene."),
          QStringLiteral("scene")},
         {QStringLiteral("shot"), QStringLiteral("With --demo: writes one picture."),
          QStringLiteral("file.png")},
         {QStringLiteral("theme"), QStringLiteral("light or dark."), QStringLiteral("theme")},
         {QStringLiteral("size"), QStringLiteral("Of the picture: 1280x800."),
          QStringLiteral("size")},
         {QStringLiteral("text"), QStringLiteral("Text size in percent: 100 to 150."),
          QStringLiteral("percent")},
         {QStringLiteral("lang"), QStringLiteral("Language of the window."),
          QStringLiteral("language")}});
    parser.process(app);
    quern::ui::prepareApplication(app, parser.value(QStringLiteral("lang")));
    if (!parser.isSet(QStringLiteral("demo"))) {
        return usage(QStringLiteral("--demo SCENE is needed"));
    }
    quern::ui::DemoOptions demo;
    demo.scene = parser.value(QStringLiteral("demo"));
    demo.shot = parser.value(QStringLiteral("shot"));
    if (parser.isSet(QStringLiteral("theme"))) {
        demo.theme = parser.value(QStringLiteral("theme"));
    }
    if (parser.isSet(QStringLiteral("text"))) {
        demo.textScale = parser.value(QStringLiteral("text")).toDouble() / 100;
    }
    if (parser.isSet(QStringLiteral("size"))) {
        const QStringList parts = parser.value(QStringLiteral("size")).split(QLatin1Char('x'));
        if (parts.size() != 2 || parts[0].toInt() < 1 || parts[1].toInt() < 1) {
            return usage(QStringLiteral("--size wants WIDTHxHEIGHT, not \"%1\"")
                             .arg(parser.value(QStringLiteral("size"))));
        }
        demo.size = QSize(parts[0].toInt(), parts[1].toInt());
    }
    return quern::ui::runDemo(app, demo);
}
