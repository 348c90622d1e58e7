import QtQuick
import QtQuick.Layouts
import Quern

// Why the message was not sent, and what would help. The draft stays.
Rectangle {
    id: card
    readonly property var chat: Session.chat
    visible: chat.refusal !== ""
    implicitHeight: visible ? column.implicitHeight + 20 : 0
    radius: 8
    color: Theme.mix(Theme.warning, Theme.surface, 0.12)
    border.width: 1
    border.color: Theme.warning
    Accessible.role: Accessible.AlertMessage
    Accessible.name: chat.refusal
    ColumnLayout {
        id: column
        anchors.fill: parent
        anchors.margins: 10
        anchors.leftMargin: 14
        spacing: 8
        RowLayout {
            Words {
                text: card.chat.isTooLong ? qsTr("This message does not fit the context any more.") : qsTr("Not sent.")
                font.weight: Font.DemiBold
                wrapMode: Text.Wrap
                Layout.fillWidth: true
            }
            GlyphButton { extent: 24; Layout.alignment: Qt.AlignTop; glyph: "close"; text: qsTr("Dismiss"); onClicked: card.chat.dismissRefusal() }
        }
        Words { text: card.chat.refusal; color: Theme.ink2; wrapMode: Text.Wrap; Layout.fillWidth: true }
        Flow {
            visible: card.chat.isTooLong
            spacing: 8
            Layout.fillWidth: true
            PushButton { text: qsTr("Leave out the oldest turns"); onClicked: card.chat.leaveOutOldest() }
            PushButton { text: qsTr("Raise the context…"); onClicked: { Session.screen = "models"; Session.shelf.openSheetOfCurrent() } }
            PushButton { text: qsTr("New conversation"); onClicked: card.chat.newConversation() }
        }
    }
}
