import QtQuick
import QtQuick.Layouts
import Quern

// A loaded model: what was estimated beside what was measured.
Card {
    id: card
    property var model: ({})
    readonly property bool isCurrent: Session.host.current === model.name
    readonly property bool isUnloading: Session.host.busyUnloading === model.name
    implicitHeight: column.implicitHeight + 28
    border.color: Theme.accent
    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Loaded: %1").arg(model.name)

    ColumnLayout {
        id: column
        anchors.fill: parent
        anchors.margins: 14
        spacing: 10
        RowLayout {
            Layout.fillWidth: true
            spacing: 8
            Words { text: card.model.name; font.pixelSize: Theme.body; font.weight: Font.DemiBold }
            Words {
                text: card.isCurrent ? qsTr("loaded, chats use it") : qsTr("loaded")
                color: Theme.accent
                font.pixelSize: Theme.caption
                Layout.fillWidth: true
            }
            PushButton { visible: !card.isCurrent; text: qsTr("Use in chats"); onClicked: Session.host.select(card.model.name) }
            PushButton {
                text: card.isUnloading ? qsTr("Unloading…") : qsTr("Unload")
                enabled: !card.isUnloading
                onClicked: Session.host.unload(card.model.name)
            }
        }
        Flow {
            Layout.fillWidth: true
            spacing: 28
            Repeater {
                model: [
                    [qsTr("Estimated"), card.model.estimate], [qsTr("Measured"), card.model.measured],
                    [qsTr("Context"), card.model.context], [qsTr("Loaded in"), qsTr("%1 s").arg(card.model.seconds)]
                ]
                ColumnLayout {
                    required property var modelData
                    spacing: 0
                    Words { text: parent.modelData[0]; color: Theme.ink2; font.pixelSize: Theme.caption }
                    Words { text: parent.modelData[1]; font.family: Theme.mono; font.pixelSize: Theme.body }
                }
            }
        }
        Words {
            text: card.model.items.map(item => item.name + " " + item.bytes).join("  ·  ")
            color: Theme.ink2
            font.pixelSize: Theme.caption
            wrapMode: Text.Wrap
            Layout.fillWidth: true
        }
        Remark { visible: text !== ""; text: card.model.fileStory; Layout.fillWidth: true }
        Repeater {
            model: card.model.notes
            Words {
                required property string modelData
                text: modelData
                color: Theme.ink2
                font.pixelSize: Theme.caption
                wrapMode: Text.Wrap
                Layout.fillWidth: true
            }
        }
    }
}
