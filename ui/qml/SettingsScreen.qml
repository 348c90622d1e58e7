import QtQuick
import QtQuick.Layouts
import Quern

FocusScope {
    Page {
        focus: true
        anchors.fill: parent
        contentHeight: column.implicitHeight + 40
        ColumnLayout {
            id: column
            x: 20
            y: 20
            width: Math.min(parent.width - 40, 640)
            spacing: 16
            ScreenTitle { text: qsTr("Settings") }
            Card {
                Layout.fillWidth: true
                implicitHeight: grid.implicitHeight + 30
                GridLayout {
                    id: grid
                    anchors.fill: parent
                    anchors.margins: 15
                    columns: 2
                    columnSpacing: 16
                    rowSpacing: 12
                    Words { text: qsTr("Appearance"); color: Theme.ink2; Layout.fillWidth: true }
                    Segments {
                        Layout.alignment: Qt.AlignRight
                        label: qsTr("Appearance")
                        options: [{ key: "system", text: qsTr("System") }, { key: "light", text: qsTr("Light") }, { key: "dark", text: qsTr("Dark") }]
                        current: Session.appearance
                        onChosen: (key) => Session.appearance = key
                    }
                    Words { text: qsTr("Text size"); color: Theme.ink2; Layout.fillWidth: true }
                    Segments {
                        Layout.alignment: Qt.AlignRight
                        label: qsTr("Text size")
                        options: [100, 110, 125, 150].map(p => ({ key: String(p), text: p + " %" }))
                        current: String(Math.round(Session.textScale * 100))
                        onChosen: (key) => Session.textScale = Number(key) / 100
                    }
                    Words { text: qsTr("Less motion"); color: Theme.ink2; Layout.fillWidth: true }
                    Toggle { Layout.alignment: Qt.AlignRight; Accessible.name: qsTr("Less motion"); checked: Session.isStill; onToggled: Session.isStill = checked }
                }
            }
            Card {
                Layout.fillWidth: true
                implicitHeight: about.implicitHeight + 30
                GridLayout {
                    id: about
                    anchors.fill: parent
                    anchors.margins: 15
                    columns: 2
                    columnSpacing: 16
                    rowSpacing: 12
                    Words { text: qsTr("Models folder"); color: Theme.ink2 }
                    RowLayout {
                        spacing: 8
                        Words { text: Session.shelf.folder; elide: Text.ElideMiddle; horizontalAlignment: Text.AlignRight; Layout.fillWidth: true }
                        GlyphButton { glyph: "copy"; text: qsTr("Copy the folder's path"); onClicked: Session.chat.copy(Session.shelf.folder) }
                    }
                    Words { text: qsTr("Keyboard"); color: Theme.ink2 }
                    PushButton { text: qsTr("Show the shortcuts"); Layout.alignment: Qt.AlignRight; onClicked: keys.open() }
                    Words { text: qsTr("Version"); color: Theme.ink2 }
                    Words { text: Qt.application.version; font.family: Theme.mono; Layout.alignment: Qt.AlignRight }
                }
            }
        }
    }
    ShortcutSheet { id: keys }
}
