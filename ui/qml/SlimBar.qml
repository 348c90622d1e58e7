import QtQuick
import QtQuick.Templates as T
import Quern

T.ScrollBar {
    id: bar
    implicitWidth: 10
    implicitHeight: 10
    padding: 2
    minimumSize: 0.06
    visible: size < 1
    Accessible.ignored: true
    contentItem: Rectangle {
        implicitWidth: 6
        implicitHeight: 6
        radius: 3
        color: bar.pressed || bar.hovered ? Theme.ink2 : Theme.line
    }
}
