import QtQuick
import QtQuick.Layouts
import Quern

// Instead of an empty transcript: what can be done now.
Page {
    id: welcome
    readonly property var host: Session.host
    signal suggested(string text)
    contentHeight: column.y + column.implicitHeight + 20

    ColumnLayout {
        id: column
        width: Math.min(520, welcome.width - 48)
        x: Math.round((welcome.width - width) / 2)
        y: Math.max(20, Math.round((welcome.height - implicitHeight) / 2))
        spacing: 12
        Words {
            text: welcome.host.hasModel ? qsTr("What shall we grind?")
                  : welcome.host.isLoading ? qsTr("One moment") : qsTr("No model is loaded")
            font.pixelSize: Theme.display
            font.weight: Font.DemiBold
            wrapMode: Text.Wrap
            horizontalAlignment: Text.AlignHCenter
            Layout.fillWidth: true
            Accessible.role: Accessible.Heading
        }
        Words {
            text: welcome.host.hasModel ? qsTr("%1 runs on this machine. Nothing you write leaves it.").arg(welcome.host.current)
                  : welcome.host.isLoading ? qsTr("You can write already. The message can be sent once the model is ready.")
                  : Session.shelf.count > 0 ? qsTr("Choose one that fits the memory that is free now.")
                  : qsTr("Drop a .gguf file on this window, or open one.")
            color: Theme.ink2
            wrapMode: Text.Wrap
            horizontalAlignment: Text.AlignHCenter
            Layout.fillWidth: true
        }
        Flow {
            visible: welcome.host.hasModel
            spacing: 8
            Layout.topMargin: 8
            Layout.alignment: Qt.AlignHCenter
            Layout.maximumWidth: welcome.width - 48
            Repeater {
                model: [qsTr("Explain how a hand mill works"), qsTr("Write a haiku about rain"), qsTr("A regular expression for dates")]
                PushButton { required property string modelData; text: modelData; onClicked: welcome.suggested(modelData) }
            }
        }
        ColumnLayout {
            visible: !welcome.host.hasModel && !welcome.host.isLoading
            spacing: 8
            Layout.fillWidth: true
            Layout.topMargin: 8
            Repeater {
                model: Session.shelf
                Card {
                    id: offer
                    required property string name
                    required property string path
                    required property string parameters
                    required property string size
                    required property string fit
                    required property string problem
                    required property bool isAdded
                    visible: problem === "" && fit === "fits" && isAdded
                    Layout.fillWidth: true
                    implicitHeight: line.implicitHeight + 20
                    RowLayout {
                        id: line
                        anchors.fill: parent
                        anchors.margins: 10
                        anchors.leftMargin: 14
                        Words { text: offer.name; font.weight: Font.DemiBold; Layout.fillWidth: true }
                        Words { text: offer.parameters; color: Theme.ink2; font.pixelSize: Theme.caption }
                        Words { text: offer.size; color: Theme.ink2; font.pixelSize: Theme.caption; Layout.leftMargin: 8 }
                        PushButton { text: qsTr("Load"); primary: true; Layout.leftMargin: 8; onClicked: Session.shelf.quickLoad(offer.path) }
                    }
                }
            }
            PushButton {
                text: Session.shelf.count > 0 ? qsTr("All models") : qsTr("Open a model file…")
                Layout.alignment: Qt.AlignHCenter
                onClicked: Session.screen = "models"
            }
        }
    }
}
