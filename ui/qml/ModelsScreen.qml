import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Quern

FocusScope {
    id: screen
    readonly property var shelf: Session.shelf
    readonly property var host: Session.host

    Page {
        focus: true
        anchors.fill: parent
        contentHeight: column.implicitHeight + 40
        ColumnLayout {
            id: column
            x: 20
            y: 20
            width: parent.width - 40
            spacing: 16
            RowLayout {
                Layout.fillWidth: true
                spacing: 8
                ScreenTitle { text: qsTr("Models"); Layout.fillWidth: true }
                GlyphButton { glyph: "again"; extent: 32; text: qsTr("Look again"); onClicked: screen.shelf.refresh() }
                PushButton { text: qsTr("Open a file…"); glyph: "folder"; onClicked: picker.open() }
            }
            LoadStrip { Layout.fillWidth: true }
            Repeater {
                model: screen.host.loaded
                LoadedCard { required property var modelData; model: modelData; Layout.fillWidth: true }
            }
            RowLayout {
                visible: screen.shelf.count > 0
                Layout.fillWidth: true
                spacing: 12
                Words { text: qsTr("On this machine"); font.weight: Font.DemiBold; Accessible.role: Accessible.Heading }
                Words { text: screen.shelf.folder; color: Theme.ink2; font.pixelSize: Theme.caption; elide: Text.ElideMiddle; Layout.fillWidth: true }
            }
            GridLayout {
                Layout.fillWidth: true
                columns: Math.max(1, Math.floor(column.width / (320 * Theme.textScale)))
                columnSpacing: 12
                rowSpacing: 12
                Repeater {
                    model: screen.shelf
                    ModelCard { Layout.fillWidth: true; Layout.fillHeight: true; Layout.preferredWidth: 320 }
                }
            }
            ColumnLayout {
                visible: screen.shelf.count === 0 && !screen.shelf.isReading
                spacing: 8
                Layout.fillWidth: true
                Layout.topMargin: 60
                Words { text: qsTr("No models yet"); font.pixelSize: Theme.title; font.weight: Font.DemiBold; Layout.alignment: Qt.AlignHCenter }
                Words {
                    text: qsTr("Drop a .gguf file on this window, open one, or put it into %1.").arg(screen.shelf.folder)
                    color: Theme.ink2
                    wrapMode: Text.Wrap
                    horizontalAlignment: Text.AlignHCenter
                    Layout.fillWidth: true
                }
                PushButton { text: qsTr("Open a file…"); primary: true; Layout.alignment: Qt.AlignHCenter; onClicked: picker.open() }
            }
        }
    }
    FileDialog {
        id: picker
        title: qsTr("Open a model")
        nameFilters: [qsTr("Models (*.gguf)"), qsTr("All files (*)")]
        onAccepted: screen.shelf.addFile(selectedFile)
    }
    LoadSheetView {}
}
