import QtQuick
import Quern

// Shows which control the keyboard has. Lies around its parent.
Rectangle {
    property bool shown: false
    anchors.fill: parent
    anchors.margins: -3
    radius: 8
    color: Theme.none
    border.width: 2
    border.color: Theme.accent
    visible: shown
}
