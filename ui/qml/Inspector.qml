import QtQuick
import QtQuick.Layouts
import Quern

// Sampling and system prompt of this conversation, and the prompt exactly as it was sent.
Page {
    id: inspector
    readonly property var chat: Session.chat
    readonly property var settings: chat.settings
    readonly property var sampling: settings.sampling
    contentHeight: column.implicitHeight + 32

    component Heading: Words {
        font.weight: Font.DemiBold
        Layout.topMargin: 8
        Layout.fillWidth: true
        Accessible.role: Accessible.Heading
    }
    component NumberRow: RowLayout {
        id: line
        property string key: ""
        property string label: ""
        property string hint: ""
        spacing: 8
        Layout.fillWidth: true
        Words { text: line.label; color: Theme.ink2; wrapMode: Text.Wrap; Layout.fillWidth: true }
        Field {
            label: line.label
            isNumber: true
            implicitWidth: Math.round(92 * Theme.textScale)
            placeholderText: line.hint
            text: line.key === "maxTokens" && !inspector.sampling[line.key] ? "" : String(inspector.sampling[line.key])
            onEditingFinished: {
                const shown = line.key === "maxTokens" && !inspector.sampling[line.key] ? "" : String(inspector.sampling[line.key])
                if (text !== shown)
                    inspector.settings.setSampling(line.key, text === "" && line.key === "maxTokens" ? "0" : text)
            }
        }
    }

    ColumnLayout {
        id: column
        x: 16
        y: 12
        width: inspector.width - 32
        spacing: 8
        Heading { text: qsTr("System prompt"); Layout.topMargin: 0 }
        Area {
            label: qsTr("System prompt")
            placeholder: qsTr("None")
            text: inspector.settings.systemPrompt
            tallest: 160
            Layout.fillWidth: true
            Layout.minimumHeight: 84
            edit.onActiveFocusChanged: if (!edit.activeFocus) inspector.settings.systemPrompt = text
        }
        Heading { text: qsTr("Sampling") }
        NumberRow { key: "temperature"; label: qsTr("Temperature") }
        NumberRow { key: "topP"; label: qsTr("Top-p") }
        NumberRow { key: "topK"; label: qsTr("Top-k") }
        NumberRow { key: "minP"; label: qsTr("Min-p") }
        NumberRow { key: "repetitionPenalty"; label: qsTr("Repetition penalty") }
        NumberRow { key: "seed"; label: qsTr("Seed"); hint: qsTr("drawn") }
        NumberRow { key: "maxTokens"; label: qsTr("Most tokens"); hint: qsTr("no limit") }
        RowLayout {
            Layout.fillWidth: true
            Words {
                text: inspector.sampling.usesModelDefaults ? qsTr("Set for this model") : qsTr("Your values")
                font.pixelSize: Theme.caption
                color: Theme.ink2
                wrapMode: Text.Wrap
                Layout.fillWidth: true
            }
            PushButton {
                visible: !inspector.sampling.usesModelDefaults
                text: qsTr("Reset")
                onClicked: inspector.settings.useModelDefaults()
            }
        }
        Heading { text: qsTr("Prompt as sent") }
        Words {
            visible: inspector.chat.promptText === ""
            text: qsTr("Shown after the next message.")
            font.pixelSize: Theme.caption
            color: Theme.ink2
            wrapMode: Text.Wrap
            Layout.fillWidth: true
        }
        Rectangle {
            visible: inspector.chat.promptText !== ""
            Layout.fillWidth: true
            implicitHeight: prompt.implicitHeight + 16
            radius: 6
            color: Theme.sunken
            TextEdit {
                id: prompt
                x: 8
                y: 8
                width: parent.width - 16
                text: inspector.chat.promptText
                textFormat: TextEdit.PlainText
                readOnly: true
                selectByMouse: true
                wrapMode: TextEdit.WrapAnywhere
                color: Theme.ink
                selectionColor: Theme.selection
                selectedTextColor: Theme.ink
                font.family: Theme.mono
                font.pixelSize: Theme.caption
                Accessible.role: Accessible.Paragraph
                Accessible.name: qsTr("Prompt as sent")
                Accessible.description: text
                Accessible.readOnly: true
            }
        }
    }
}
