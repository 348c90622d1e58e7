import QtQuick
import QtQuick.Layouts
import Quern

// One row of the transcript, by its kind.
Item {
    id: row
    required property int index
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
    required property bool isContextFull
    required property bool isLeftOut
    required property bool isThought
    required property bool isUnfolded
    required property bool isThinking
    property int inset: 0
    property int column: 0
    signal editAsked(var turn)

    readonly property bool isBlock: kind === "code" || kind === "table" || kind === "call"
    readonly property int above: kind === "head" ? 20 : kind === "heading" ? 12 : isBlock ? 8
                               : kind === "foot" ? (speaker === "user" ? 0 : 6) : 4
    // What was thought stands back from what is said.
    readonly property int indent: isThought ? 20 : 0
    readonly property bool endsThought: isThought && ListView.nextSection !== ListView.section
    readonly property int below: (isBlock ? 8 : 0) + (endsThought ? 10 : 0)
    height: body.height + above + below

    Rectangle {
        visible: row.isThought
        x: row.inset + 6
        width: 2
        height: row.height - (row.endsThought ? 10 : 0)
        color: Theme.line
    }
    Loader {
        id: body
        x: row.inset + row.indent
        y: row.above
        width: row.column - row.indent
        opacity: row.isLeftOut ? 0.55 : 1
        sourceComponent: row.kind === "head" ? head : row.kind === "plain" ? plain
                       : row.kind === "code" ? code : row.kind === "table" ? table
                       : row.kind === "rule" ? rule : row.kind === "foot" ? foot
                       : row.kind === "quote" ? quote : row.kind === "thinking" ? thinking
                       : row.kind === "call" ? call : prose
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
            PushButton {
                visible: row.isLeftOut && row.index === 0
                text: qsTr("Put back in")
                enabled: !Session.chat.isBusy
                onClicked: Session.chat.takeBackLeftOut()
                Hint { shown: parent.hovered; text: qsTr("The whole conversation goes into the prompt again.") }
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
            color: row.isThought ? Theme.ink2 : Theme.ink
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
    Component {
        id: thinking
        Item {
            implicitHeight: fold.implicitHeight
            ThinkingHead {
                id: fold
                isUnfolded: row.isUnfolded
                isThinking: row.isThinking
                onClicked: Session.chat.transcript.fold(row.turn, row.isUnfolded)
            }
        }
    }
    Component {
        id: call
        ColumnLayout {
            spacing: 4
            CodeBlock { title: qsTr("Calls %1").arg(row.label); code: row.text; Layout.fillWidth: true }
            Words {
                text: qsTr("A chat has no tools: nothing was run.")
                font.pixelSize: Theme.caption
                color: Theme.ink2
                wrapMode: Text.Wrap
                Layout.fillWidth: true
            }
        }
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
            isContextFull: row.isContextFull
            onEditAsked: row.editAsked(row.turn)
        }
    }
}
