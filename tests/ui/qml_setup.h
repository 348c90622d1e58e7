#pragma once

#include <QObject>
#include <QQmlEngine>

/// Shows the tests' QML where the program's components are.
class QmlSetup : public QObject {
    Q_OBJECT

public slots:
    void qmlEngineAvailable(QQmlEngine* engine) { engine->addImportPath(QStringLiteral("qrc:/")); }
};
