import QtQuick
import QtQuick.Layouts
import Quern

// For some seconds after a conversation was deleted.
Rectangle {
    id: bar
    readonly property var list: Session.chat.conversations
    visible: list.removedTitle !== ""
    implicitHeight: visible ? row.implicitHeight + 12 : 0
    color: Theme.sunken
    Accessible.role: Accessible.AlertMessage
    Accessible.name: words.text
    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: 20
        anchors.rightMargin: 12
        Words { id: words; text: qsTr("“%1” was deleted.").arg(bar.list.removedTitle); Layout.fillWidth: true }
        PushButton { text: qsTr("Undo"); onClicked: bar.list.undoRemove() }
        GlyphButton { glyph: "close"; text: qsTr("Dismiss"); onClicked: bar.list.forgetRemoved() }
    }
    Timer { interval: 10000; running: bar.visible; onTriggered: bar.list.forgetRemoved() }
}
