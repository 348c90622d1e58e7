#pragma once

#include <QSize>
#include <QString>

class QGuiApplication;

namespace quern::app {

struct DemoOptions {
    QString scene;  // of ui::demoScenes()
    QString shot;   // PNG to write; empty: the window stays open
    QString theme = QStringLiteral("light");
    QSize size{1280, 800};
    qreal textScale = 1.0;
};

/// Shows a scene from a demo engine, without any model, over the chat service and a store that ends
/// with the process; the same pixels from run to run. Returns the process's exit status: 0, 1 where
/// the picture could not be made or QML complained, 2 for a scene that does not exist.
[[nodiscard]] int runDemo(QGuiApplication& app, const DemoOptions& options);

}  // namespace quern::app
