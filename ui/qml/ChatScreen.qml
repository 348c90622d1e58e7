import QtQuick
import QtQuick.Layouts
import Quern

FocusScope {
    id: screen
    readonly property var chat: Session.chat

    RowLayout {
        anchors.fill: parent
        spacing: 0
        ConversationPane {
            id: pane
            // Where the window is narrow the inspector takes the list's place.
            visible: screen.width > 860 * Theme.textScale || !Session.isInspectorOpen
            Layout.fillHeight: true
            Layout.fillWidth: false
            Layout.preferredWidth: Math.round(228 * (1 + (Theme.textScale - 1) / 2))
        }
        Rectangle { implicitWidth: 1; Layout.fillHeight: true; color: Theme.line }
        ColumnLayout {
            spacing: 0
            Layout.fillWidth: true
            RowLayout {
                Layout.fillWidth: true
                Layout.leftMargin: 20
                Layout.rightMargin: 12
                Layout.topMargin: 12
                Layout.bottomMargin: 4
                Words {
                    text: screen.chat.title
                    font.weight: Font.DemiBold
                    font.pixelSize: Theme.body
                    Layout.fillWidth: true
                    Accessible.role: Accessible.Heading
                }
                GlyphButton {
                    glyph: "sliders"
                    text: qsTr("Inspector (Ctrl+I)")
                    tint: Session.isInspectorOpen ? Theme.accent : Theme.ink2
                    onClicked: Session.isInspectorOpen = !Session.isInspectorOpen
                }
            }
            Item {
                Layout.fillWidth: true
                Layout.fillHeight: true
                TranscriptView {
                    id: transcript
                    anchors.fill: parent
                    visible: screen.chat.transcript.count > 0
                    onEditAsked: (turn) => composer.beginEdit(turn)
                }
                Rectangle { visible: transcript.visible && !transcript.atYBeginning; width: parent.width; height: 1; color: Theme.line }
                ChatWelcome {
                    anchors.fill: parent
                    visible: screen.chat.transcript.count === 0
                    onSuggested: (text) => { screen.chat.draft = text; composer.takeFocus() }
                }
            }
            UndoBar { Layout.fillWidth: true }
            Composer {
                id: composer
                focus: true
                measure: transcript.measure
                Layout.fillWidth: true
            }
        }
        Rectangle { implicitWidth: 1; Layout.fillHeight: true; color: Theme.line; visible: Session.isInspectorOpen }
        Inspector {
            visible: Session.isInspectorOpen
            Layout.fillHeight: true
            Layout.preferredWidth: Math.round(276 * (1 + (Theme.textScale - 1) / 2))
        }
    }
    Shortcut { sequence: "Ctrl+F"; enabled: screen.visible; onActivated: pane.focusSearch() }
    Shortcut {
        sequence: "Ctrl+E"
        enabled: screen.visible && !screen.chat.isBusy
        onActivated: composer.beginEdit(screen.chat.lastUserTurn())
    }
    Connections {
        target: screen.chat
        function onOpened() { composer.takeFocus() }
    }
    Component.onCompleted: composer.takeFocus()
    onVisibleChanged: if (visible) composer.takeFocus()
}
