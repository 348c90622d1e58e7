import QtQuick
import QtQuick.Layouts
import Quern

// Under a turn: what it cost, how it ended, what can be done with it.
Item {
    id: foot
    property var turn: 0
    property string speaker: ""
    property string turnState: ""
    property string failure: ""
    property string figures: ""
    property int branch: 1
    property int branches: 1
    property bool isLast: false
    property bool isContextFull: false
    readonly property bool isReply: speaker !== "user"
    readonly property bool isLive: turnState === "writing"
    signal editAsked()
    implicitHeight: column.implicitHeight

    HoverHandler { id: hover }
    ColumnLayout {
        id: column
        width: parent.width
        spacing: 6
        Rectangle {
            visible: foot.turnState === "failed" || foot.turnState === "interrupted"
            Layout.fillWidth: true
            implicitHeight: trouble.implicitHeight + 16
            radius: 6
            color: foot.turnState === "failed" ? Theme.mix(Theme.danger, Theme.canvas, 0.08) : Theme.sunken
            RowLayout {
                id: trouble
                anchors.fill: parent
                anchors.margins: 8
                spacing: 8
                Icon { name: foot.turnState === "failed" ? "warning" : "stop"; color: foot.turnState === "failed" ? Theme.danger : Theme.ink2 }
                Words {
                    text: foot.turnState === "failed" ? qsTr("The reply failed: %1").arg(foot.failure)
                                                      : qsTr("Interrupted. What was written is kept.")
                    wrapMode: Text.Wrap
                    Layout.fillWidth: true
                }
                PushButton { text: qsTr("Try again"); enabled: !Session.chat.isBusy && Session.host.hasModel; onClicked: Session.chat.regenerate(foot.turn) }
            }
        }
        Rectangle {
            visible: foot.isContextFull && foot.isLast
            Layout.fillWidth: true
            implicitHeight: full.implicitHeight + 16
            radius: 6
            color: Theme.sunken
            ColumnLayout {
                id: full
                anchors.fill: parent
                anchors.margins: 8
                spacing: 8
                Remark {
                    text: qsTr("The context is full: the reply ends here, and no more will fit.")
                    pixelSize: Theme.body
                    Layout.fillWidth: true
                }
                Flow {
                    spacing: 8
                    Layout.fillWidth: true
                    PushButton {
                        text: qsTr("Raise the context…")
                        enabled: Session.host.hasModel
                        onClicked: { Session.screen = "models"; Session.shelf.openSheetOfCurrent() }
                    }
                    PushButton { text: qsTr("New conversation"); onClicked: Session.chat.newConversation() }
                }
            }
        }
        RowLayout {
            spacing: 2
            Layout.fillWidth: true
            Words {
                visible: foot.isReply
                text: !foot.isLive ? foot.figures
                    : foot.isLast && Session.chat.isBusy ? Session.chat.phaseText
                    : qsTr("Being written in another program")
                font.pixelSize: Theme.caption
                font.family: Theme.mono
                color: Theme.ink2
                wrapMode: Text.Wrap
                elide: Text.ElideNone
                Layout.fillWidth: true
            }
            Item { visible: !foot.isReply; Layout.fillWidth: true }
            RowLayout {
                visible: foot.branches > 1
                spacing: 0
                GlyphButton { extent: 24; glyph: "left"; text: qsTr("Earlier branch (Alt+←)"); enabled: foot.branch > 1 && !Session.chat.isBusy; onClicked: Session.chat.selectBranch(foot.turn, -1) }
                Words {
                    text: foot.branch + "/" + foot.branches
                    font.pixelSize: Theme.caption
                    font.family: Theme.mono
                    color: Theme.ink2
                    Accessible.name: qsTr("Branch %1 of %2").arg(foot.branch).arg(foot.branches)
                }
                GlyphButton { extent: 24; glyph: "right"; text: qsTr("Later branch (Alt+→)"); enabled: foot.branch < foot.branches && !Session.chat.isBusy; onClicked: Session.chat.selectBranch(foot.turn, 1) }
            }
            RowLayout {
                spacing: 0
                visible: !foot.isLive
                opacity: foot.isLast || hover.hovered || activeFocus ? 1 : 0.35
                GlyphButton { extent: 24; glyph: "copy"; text: qsTr("Copy as Markdown"); onClicked: Session.chat.copyTurn(foot.turn) }
                GlyphButton { extent: 24; visible: foot.isReply; glyph: "again"; text: qsTr("Write it again (Ctrl+R)"); enabled: !Session.chat.isBusy && Session.host.hasModel; onClicked: Session.chat.regenerate(foot.turn) }
                GlyphButton { extent: 24; visible: !foot.isReply; glyph: "edit"; text: qsTr("Edit (Ctrl+E)"); enabled: !Session.chat.isBusy; onClicked: foot.editAsked() }
            }
        }
    }
}
