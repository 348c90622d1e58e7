#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

class QGuiApplication;

namespace quern::ui {

struct DemoOptions {
    QString scene;
    QString shot;  // PNG to write; empty: the window stays open
    QString theme = QStringLiteral("light");
    QSize size{1280, 800};
    qreal textScale = 1.0;
};

/// Scenes that `runDemo` knows.
[[nodiscard]] QStringList demoScenes();

/// Shows a scene from a demo engine, without any model; the same pixels from run to run. Returns
/// the process's exit status: 0, 1 where the picture could not be made or QML complained, 2 for a
/// scene that does not exist.
[[nodiscard]] int runDemo(QGuiApplication& app, const DemoOptions& options);

}  // namespace quern::ui
