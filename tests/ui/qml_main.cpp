#include <QQmlExtensionPlugin>
#include <QtQuickTest>

#include "tests/ui/qml_setup.h"

Q_IMPORT_QML_PLUGIN(QuernPlugin)

QUICK_TEST_MAIN_WITH_SETUP(quern_ui, QmlSetup)
