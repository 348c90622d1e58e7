import QtQuick
import QtQuick.Layouts
import Quern

FocusScope {
    id: screen
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
                        label: qsTr("Appearance")
                        options: [{ key: "system", text: qsTr("System") }, { key: "light", text: qsTr("Light") }, { key: "dark", text: qsTr("Dark") }]
                        current: Session.appearance
                        onChosen: (key) => Session.appearance = key
                    }
                    Words { text: qsTr("Text size"); color: Theme.ink2; Layout.fillWidth: true }
                    Segments {
                        label: qsTr("Text size")
                        options: [100, 110, 125, 150].map(p => ({ key: String(p), text: p + " %" }))
                        current: String(Math.round(Session.textScale * 100))
                        onChosen: (key) => Session.textScale = Number(key) / 100
                    }
                    Words { text: qsTr("Less motion"); color: Theme.ink2; Layout.fillWidth: true }
                    Toggle { Accessible.name: qsTr("Less motion"); checked: Session.isStill; onToggled: Session.isStill = checked }
                }
            }
            Words {
                text: qsTr("Models: %1").arg(Session.shelf.folder)
                color: Theme.ink2
                font.pixelSize: Theme.caption
                wrapMode: Text.WrapAnywhere
                Layout.fillWidth: true
            }
        }
    }
}
