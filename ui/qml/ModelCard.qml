import QtQuick
import QtQuick.Layouts
import Quern

Card {
    id: card
    required property string name
    required property string path
    required property string architecture
    required property string parameters
    required property string quantization
    required property string size
    required property string context
    required property string license
    required property string source
    required property string problem
    required property string fit
    required property bool isLoaded
    required property bool isAdded
    required property bool isInPlace
    readonly property var facts: [
        [qsTr("Size"), size], [qsTr("Context"), context], [qsTr("Licence"), license], [qsTr("From"), source]
    ]
    implicitHeight: column.implicitHeight + 28
    border.color: isLoaded ? Theme.accent : Theme.line
    Accessible.role: Accessible.ListItem
    Accessible.name: name
    Accessible.description: [architecture, parameters, quantization, size].join(", ")

    ColumnLayout {
        id: column
        anchors.fill: parent
        anchors.margins: 14
        spacing: 8
        RowLayout {
            Layout.fillWidth: true
            spacing: 8
            Words { text: card.name; font.weight: Font.DemiBold; font.pixelSize: Theme.body; Layout.fillWidth: true }
            Words { visible: card.isLoaded; text: qsTr("loaded"); color: Theme.accent; font.pixelSize: Theme.caption; font.weight: Font.DemiBold }
            FitChip { fit: card.isLoaded ? "" : card.fit }
        }
        Words {
            visible: text !== ""
            text: [card.architecture, card.parameters, card.quantization].filter(x => x !== "").join(" · ")
            font.family: Theme.mono
            font.pixelSize: Theme.caption
            color: Theme.ink2
            Layout.fillWidth: true
        }
        Words {
            // How it is called once it is loaded.
            text: card.path.substring(card.path.lastIndexOf("/") + 1)
            visible: text !== card.name
            elide: Text.ElideMiddle
            font.pixelSize: Theme.caption
            color: Theme.ink2
            Layout.fillWidth: true
        }
        GridLayout {
            columns: 4
            columnSpacing: 12
            rowSpacing: 2
            Layout.fillWidth: true
            visible: card.size !== ""
            Repeater {
                model: card.facts.length * 2
                Words {
                    required property int index
                    readonly property bool isLabel: index % 2 === 0
                    text: card.facts[Math.floor(index / 2)][index % 2]
                    color: isLabel ? Theme.ink2 : Theme.ink
                    font.pixelSize: Theme.caption
                    Layout.fillWidth: !isLabel
                    Layout.preferredWidth: isLabel ? -1 : 60
                }
            }
        }
        RowLayout {
            visible: card.problem !== ""
            spacing: 8
            Layout.fillWidth: true
            Icon { name: "warning"; color: Theme.warning; Layout.alignment: Qt.AlignTop }
            Words {
                text: card.problem
                font.pixelSize: Theme.caption
                color: Theme.ink2
                wrapMode: Text.Wrap
                maximumLineCount: 4
                Layout.fillWidth: true
            }
        }
        Item { Layout.fillHeight: true }
        RowLayout {
            Layout.fillWidth: true
            spacing: 8
            Item { Layout.fillWidth: true }
            PushButton {
                visible: card.isInPlace && card.isAdded
                text: qsTr("Forget")
                onClicked: Session.shelf.forget(card.path)
                Hint { shown: parent.hovered; text: qsTr("Takes it off this list. The file stays.") }
            }
            PushButton {
                visible: !card.isAdded && card.problem === ""
                text: qsTr("Add in place")
                onClicked: Session.shelf.addPath(card.path)
                Hint { shown: parent.hovered; text: qsTr("Uses the file where it is, without a copy.") }
            }
            PushButton {
                visible: card.isAdded && card.problem === ""
                primary: !card.isLoaded && card.fit !== "tooBig"
                enabled: !Session.host.isLoading
                text: card.isLoaded ? qsTr("Load anew…") : qsTr("Load…")
                Accessible.name: qsTr("Load %1").arg(card.name)
                onClicked: Session.shelf.openSheet(card.path)
            }
        }
    }
}
