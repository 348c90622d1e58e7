import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

// Where a message is written: Enter sends, Shift+Enter begins a new line.
FocusScope {
    id: composer
    readonly property var chat: Session.chat
    readonly property var host: Session.host
    property int measure: 600
    readonly property bool isNarrow: width < 540 * Theme.textScale
    readonly property bool canSend: host.hasModel && !chat.isBusy && chat.draft.trim() !== ""
    implicitHeight: column.implicitHeight + 28

    function takeFocus() { area.edit.forceActiveFocus() }
    function beginEdit(turn) {
        chat.beginEdit(turn)
        takeFocus()
        area.edit.cursorPosition = area.edit.length
    }

    ColumnLayout {
        id: column
        width: Math.min(composer.measure + 24, composer.width - 32)
        anchors.horizontalCenter: parent.horizontalCenter
        anchors.top: parent.top
        anchors.topMargin: 8
        spacing: 8

        LoadStrip { Layout.fillWidth: true }
        RefusalCard { Layout.fillWidth: true }
        RowLayout {
            visible: composer.chat.editing !== 0
            Layout.fillWidth: true
            Icon { name: "edit"; color: Theme.ink2 }
            Words { text: qsTr("Editing your message: sending makes a new branch."); color: Theme.ink2; Layout.fillWidth: true }
            PushButton { text: qsTr("Cancel"); onClicked: composer.chat.endEdit() }
        }
        Card {
            Layout.fillWidth: true
            implicitHeight: inner.implicitHeight + 20
            border.width: area.edit.activeFocus ? 2 : 1
            border.color: area.edit.activeFocus ? Theme.accent : Theme.line
            ColumnLayout {
                id: inner
                anchors.fill: parent
                anchors.margins: 10
                anchors.leftMargin: 14
                spacing: 6
                Area {
                    id: area
                    focus: true
                    framed: false
                    label: qsTr("Message")
                    placeholder: composer.host.hasModel ? qsTr("Write to %1").arg(composer.host.current)
                                 : composer.host.isLoading ? qsTr("Write already: it can be sent once the model is ready")
                                 : qsTr("Load a model to send")
                    // Where the window is low, something of the transcript stays in sight.
                    tallest: Math.max(48, Math.min(180, composer.Window.height * 0.22))
                    Layout.fillWidth: true
                    edit.onTextChanged: composer.chat.draft = edit.text
                    edit.Keys.onReturnPressed: (event) => {
                        if (event.modifiers & Qt.ShiftModifier) {
                            event.accepted = false
                        } else {
                            composer.chat.send()
                        }
                    }
                    edit.Keys.onEnterPressed: composer.chat.send()
                    edit.Keys.onEscapePressed: (event) => {
                        // Also where the window has keys but is not active, so that no shortcut matches.
                        event.accepted = composer.chat.editing !== 0 || composer.chat.isBusy
                        if (composer.chat.editing !== 0)
                            composer.chat.endEdit()
                        else
                            composer.chat.stop()
                    }
                    Connections {
                        target: composer.chat
                        function onDraftChanged() {
                            if (area.edit.text !== composer.chat.draft)
                                area.edit.text = composer.chat.draft
                        }
                    }
                    Component.onCompleted: edit.text = composer.chat.draft
                }
                RowLayout {
                    Layout.fillWidth: true
                    spacing: 12
                    Words {
                        text: composer.isNarrow ? "" : composer.host.currentTitle
                        font.pixelSize: Theme.caption
                        color: Theme.ink2
                        Layout.fillWidth: true
                        Layout.minimumWidth: 0
                    }
                    ContextMeter { isNarrow: composer.isNarrow; Layout.fillWidth: true; Layout.maximumWidth: Math.ceil(implicitWidth) + 1 }
                    PushButton {
                        visible: composer.chat.isBusy
                        glyph: "stop"
                        text: qsTr("Stop")
                        onClicked: composer.chat.stop()
                        Hint { shown: parent.hovered; text: qsTr("Esc") }
                    }
                    PushButton {
                        visible: !composer.chat.isBusy
                        primary: true
                        glyph: "send"
                        text: qsTr("Send")
                        display: composer.isNarrow ? T.AbstractButton.IconOnly : T.AbstractButton.TextBesideIcon
                        enabled: composer.canSend
                        onClicked: composer.chat.send()
                    }
                }
            }
        }
    }
}
