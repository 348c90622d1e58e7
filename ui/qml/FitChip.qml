import QtQuick
import Quern

// Whether a model fits the memory that is free now: in words, then in colour.
Rectangle {
    id: chip
    property string fit: ""
    readonly property color tone: fit === "fits" ? Theme.accent : fit === "tight" ? Theme.warning : Theme.danger
    visible: fit !== ""
    implicitWidth: words.implicitWidth + 16
    implicitHeight: words.implicitHeight + 6
    radius: 4
    color: Theme.none
    border.width: 1
    border.color: tone
    Words {
        id: words
        anchors.centerIn: parent
        text: chip.fit === "fits" ? qsTr("Fits") : chip.fit === "tight" ? qsTr("Tight") : qsTr("Does not fit")
        color: chip.tone
        font.pixelSize: Theme.caption
        font.weight: Font.DemiBold
    }
}
