import QtQuick
import QtQuick.Layouts
import Quern

// One live number, in a card.
Card {
    id: figure
    property string label: ""
    property string value: ""
    property string unit: ""
    property bool isKnown: true
    readonly property bool isNarrow: width > 0 && width < 150 * Theme.textScale
    implicitHeight: column.implicitHeight + 24
    implicitWidth: 120
    Accessible.role: Accessible.StaticText
    Accessible.name: label + ": " + (isKnown ? value + " " + unit : qsTr("unknown"))

    ColumnLayout {
        id: column
        anchors.fill: parent
        anchors.margins: 12
        spacing: 4
        Words {
            text: figure.label
            font.pixelSize: Theme.caption
            color: Theme.ink2
            Layout.fillWidth: true
            Accessible.ignored: true
        }
        GridLayout {
            columns: figure.isNarrow ? 1 : 2
            columnSpacing: 6
            rowSpacing: 0
            Layout.fillWidth: true
            Words {
                text: figure.isKnown ? figure.value : "–"
                font.family: Theme.mono
                font.pixelSize: figure.isNarrow ? Theme.body : Theme.heading
                elide: Text.ElideNone
                Layout.alignment: Qt.AlignBaseline
                Accessible.ignored: true
            }
            Words {
                text: figure.unit
                font.pixelSize: Theme.caption
                color: Theme.ink2
                // Kept where it is a line of its own: the card's height must not jump.
                visible: text !== "" && (figure.isKnown || figure.isNarrow)
                opacity: figure.isKnown ? 1 : 0
                Layout.alignment: Qt.AlignBaseline
                Layout.fillWidth: true
                Accessible.ignored: true
            }
        }
    }
}
