import QtQuick
import QtQuick.Layouts
import Quern

// One row of the transcript, by its kind.
Item {
    id: row
    required property string kind
    required property var turn
    required property string speaker
    required property string label
    required property string html
    required property string text
    required property string language
    required property int level
    required property var cells
    required property var alignments
    required property string turnState
    required property string failure
    required property string figures
    required property int branch
    required property int branches
    required property bool isLast
    required property bool isLeftOut
    property int inset: 0
    property int column: 0
    signal editAsked(var turn)

    readonly property int above: kind === "head" ? 20 : kind === "heading" ? 12 : kind === "code" || kind === "table" ? 8
                               : kind === "foot" ? (speaker === "user" ? 0 : 6) : 4
    height: body.height + above + (kind === "code" || kind === "table" ? 8 : 0)

    Loader {
        id: body
        x: row.inset
        y: row.above
        width: row.column
        opacity: row.isLeftOut ? 0.55 : 1
        sourceComponent: row.kind === "head" ? head : row.kind === "plain" ? plain
                       : row.kind === "code" ? code : row.kind === "table" ? table
                       : row.kind === "rule" ? rule : row.kind === "foot" ? foot
                       : row.kind === "quote" ? quote : prose
    }

    Component {
        id: head
        RowLayout {
            spacing: 8
            Rectangle {
                implicitWidth: 8
                implicitHeight: 8
                radius: row.speaker === "user" ? 1 : 4
                color: row.speaker === "user" ? Theme.ink2 : Theme.accent
            }
            Words {
                text: row.label
                font.weight: Font.DemiBold
                color: row.speaker === "user" ? Theme.ink2 : Theme.accent
                Layout.fillWidth: true
            }
            Words {
                visible: row.isLeftOut
                text: qsTr("left out of the prompt")
                font.pixelSize: Theme.caption
                color: Theme.warning
            }
        }
    }
    Component {
        id: plain
        Prose { textFormat: TextEdit.PlainText; text: row.text }
    }
    Component {
        id: prose
        Prose {
            text: row.html
            font.pixelSize: row.kind !== "heading" ? Theme.body : row.level === 1 ? Theme.heading
                          : row.level === 2 ? Theme.title : Theme.body
            font.weight: row.kind === "heading" ? Font.DemiBold : Font.Normal
            Accessible.role: row.kind === "heading" ? Accessible.Heading : Accessible.Paragraph
        }
    }
    Component {
        id: quote
        Item {
            implicitHeight: words.implicitHeight
            Rectangle { width: 3; height: parent.height; color: Theme.line; radius: 1 }
            Prose { id: words; x: 16; width: parent.width - 16; text: row.html; color: Theme.ink2 }
        }
    }
    Component {
        id: rule
        Item { implicitHeight: 17; Rectangle { y: 8; width: parent.width; height: 1; color: Theme.line } }
    }
    Component { id: code; CodeBlock { code: row.text; language: row.language } }
    Component { id: table; TableBlock { cells: row.cells; alignments: row.alignments } }
    Component {
        id: foot
        TurnFoot {
            turn: row.turn
            speaker: row.speaker
            turnState: row.turnState
            failure: row.failure
            figures: row.figures
            branch: row.branch
            branches: row.branches
            isLast: row.isLast
            onEditAsked: row.editAsked(row.turn)
        }
    }
}
