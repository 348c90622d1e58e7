#include <QQmlEngine>
#include <QQmlExtensionPlugin>
#include <QtQuickTest>

Q_IMPORT_QML_PLUGIN(QuernPlugin)

namespace {

class Setup : public QObject {
    Q_OBJECT

public slots:
    void qmlEngineAvailable(QQmlEngine* engine) { engine->addImportPath(QStringLiteral("qrc:/")); }
};

}  // namespace

QUICK_TEST_MAIN_WITH_SETUP(quern_ui, Setup)

#include "qml_main.moc"
