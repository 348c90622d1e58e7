import QtQuick
import QtQuick.Layouts
import Quern

// The one bar for errors that persist: what, why, one action.
Rectangle {
    id: bar
    readonly property var notices: Session.notices
    visible: notices.text !== ""
    implicitHeight: visible ? row.implicitHeight + 20 : 0
    color: Theme.mix(Theme.danger, Theme.surface, 0.1)
    Accessible.role: Accessible.AlertMessage
    Accessible.name: notices.text
    Accessible.description: notices.cause

    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: 20
        anchors.rightMargin: 12
        anchors.topMargin: 10
        anchors.bottomMargin: 10
        spacing: 12
        Icon { name: "warning"; color: Theme.danger; Layout.alignment: Qt.AlignTop; Layout.topMargin: 2 }
        ColumnLayout {
            spacing: 2
            Layout.fillWidth: true
            Words {
                text: bar.notices.text
                font.weight: Font.DemiBold
                wrapMode: Text.Wrap
                Layout.fillWidth: true
            }
            Words {
                visible: text !== ""
                text: bar.notices.cause
                color: Theme.ink2
                wrapMode: Text.Wrap
                maximumLineCount: 4
                Layout.fillWidth: true
            }
        }
        PushButton {
            visible: text !== ""
            text: bar.notices.actionText
            onClicked: bar.notices.act()
        }
        Words {
            visible: bar.notices.waiting > 0
            text: qsTr("%n more", "messages behind this one", bar.notices.waiting)
            color: Theme.ink2
            font.pixelSize: Theme.caption
        }
        GlyphButton { glyph: "close"; text: qsTr("Dismiss"); onClicked: bar.notices.dismiss() }
    }
    Rectangle { anchors.bottom: parent.bottom; width: parent.width; height: 1; color: Theme.danger; opacity: 0.4 }
}
