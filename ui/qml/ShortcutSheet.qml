import QtQuick
import QtQuick.Layouts
import Quern

Sheet {
    id: sheet
    name: qsTr("Keyboard shortcuts")
    contentWidth: 420
    contentHeight: column.implicitHeight
    ColumnLayout {
        id: column
        width: sheet.contentWidth
        spacing: 6
        Words { text: sheet.name; font.pixelSize: Theme.title; font.weight: Font.DemiBold; Layout.bottomMargin: 8 }
        Repeater {
            model: [
                ["Ctrl+1 … 5", qsTr("Go to a screen")],
                ["Ctrl+N", qsTr("New conversation")],
                ["Ctrl+F", qsTr("Search conversations")],
                ["Ctrl+L", qsTr("Models")],
                ["Ctrl+I", qsTr("Inspector: sampling and system prompt")],
                ["Ctrl+R", qsTr("Write the last reply again")],
                ["Ctrl+E", qsTr("Edit your last message")],
                ["Alt+← →", qsTr("Other branches of the reply")],
                ["Esc", qsTr("Stop the reply")],
                [qsTr("Space"), qsTr("Pause the monitor")],
                ["F11", qsTr("Full screen")],
                ["Ctrl+Q", qsTr("Quit")],
                ["F1, ?", qsTr("This help")]
            ]
            RowLayout {
                required property var modelData
                spacing: 16
                Words { text: parent.modelData[0]; font.family: Theme.mono; Layout.preferredWidth: 120 }
                Words { text: parent.modelData[1]; color: Theme.ink2; Layout.fillWidth: true }
            }
        }
        PushButton { text: qsTr("Close"); Layout.alignment: Qt.AlignRight; Layout.topMargin: 8; onClicked: sheet.close() }
    }
}
