import QtQuick
import QtQuick.Layouts
import Quern

FocusScope {
    id: screen
    readonly property var server: Session.server
    property string kind: "curl"
    Binding { target: screen.server; property: "isWatched"; value: screen.visible }

    Page {
        focus: true
        anchors.fill: parent
        contentHeight: column.implicitHeight + 40
        ColumnLayout {
            id: column
            x: 20
            y: 20
            width: Math.min(parent.width - 40, 860)
            spacing: 16
            RowLayout {
                Layout.fillWidth: true
                ScreenTitle { text: qsTr("Server"); Layout.fillWidth: true }
                Toggle {
                    text: screen.server.isOn ? qsTr("On") : qsTr("Off")
                    Accessible.name: qsTr("Server")
                    checked: screen.server.isOn
                    enabled: !screen.server.isSwitching
                    onToggled: {
                        screen.server.turn(checked)
                        checked = Qt.binding(() => screen.server.isOn)
                    }
                }
            }
            Words {
                text: qsTr("Other programs on this machine can use the loaded models through the OpenAI protocol.")
                color: Theme.ink2
                wrapMode: Text.Wrap
                Layout.fillWidth: true
            }
            Rectangle {
                visible: screen.server.problem !== ""
                Layout.fillWidth: true
                implicitHeight: problem.implicitHeight + 20
                radius: 8
                color: Theme.mix(Theme.danger, Theme.surface, 0.1)
                Accessible.role: Accessible.AlertMessage
                Accessible.name: screen.server.problem
                RowLayout {
                    id: problem
                    anchors.fill: parent
                    anchors.margins: 10
                    Icon { name: "warning"; color: Theme.danger }
                    Words { text: screen.server.problem; wrapMode: Text.Wrap; Layout.fillWidth: true }
                }
            }
            RowLayout {
                Layout.fillWidth: true
                spacing: 12
                Figure { label: qsTr("Connections"); value: screen.server.connections; isKnown: screen.server.isOn; Layout.fillWidth: true; Layout.preferredWidth: 100 }
                Figure { label: qsTr("Requests running"); value: screen.server.active; isKnown: screen.server.isOn; Layout.fillWidth: true; Layout.preferredWidth: 100 }
                Figure { label: qsTr("Requests served"); value: screen.server.served; isKnown: screen.server.isOn; Layout.fillWidth: true; Layout.preferredWidth: 100 }
            }
            Card {
                Layout.fillWidth: true
                implicitHeight: settings.implicitHeight + 30
                GridLayout {
                    id: settings
                    anchors.fill: parent
                    anchors.margins: 15
                    columns: 2
                    columnSpacing: 16
                    rowSpacing: 10
                    Words { text: qsTr("Address"); color: Theme.ink2 }
                    RowLayout {
                        spacing: 8
                        Words { text: screen.server.address + "/v1"; font.family: Theme.mono; Layout.fillWidth: true }
                        GlyphButton { glyph: "copy"; text: qsTr("Copy address"); onClicked: Session.chat.copy(screen.server.address + "/v1") }
                    }
                    Words { text: qsTr("Listen on"); color: Theme.ink2 }
                    RowLayout {
                        spacing: 8
                        enabled: !screen.server.isOn
                        Segments {
                            label: qsTr("Listen on")
                            options: [{ key: "127.0.0.1", text: qsTr("This machine") }, { key: "0.0.0.0", text: qsTr("Network") }]
                            current: screen.server.host
                            onChosen: (key) => screen.server.host = key
                        }
                        Field {
                            label: qsTr("Port")
                            isNumber: true
                            implicitWidth: 84
                            text: String(screen.server.port)
                            validator: IntValidator { bottom: 1; top: 65535 }
                            onEditingFinished: screen.server.port = Number(text)
                        }
                    }
                    Words { text: qsTr("Key"); color: Theme.ink2 }
                    RowLayout {
                        spacing: 8
                        Field {
                            label: qsTr("Key")
                            placeholderText: qsTr("none: every program on this machine may use it")
                            font.family: Theme.mono
                            text: screen.server.apiKey
                            enabled: !screen.server.isOn
                            Layout.fillWidth: true
                            onEditingFinished: if (text !== screen.server.apiKey) screen.server.apiKey = text
                        }
                        PushButton { text: qsTr("New key"); enabled: !screen.server.isOn; onClicked: screen.server.makeKey() }
                        GlyphButton { glyph: "copy"; text: qsTr("Copy key"); enabled: screen.server.apiKey !== ""; onClicked: Session.chat.copy(screen.server.apiKey) }
                    }
                    Words {
                        visible: screen.server.isOn
                        text: qsTr("Switch the server off to change where it listens and its key.")
                        color: Theme.ink2
                        font.pixelSize: Theme.caption
                        wrapMode: Text.Wrap
                        Layout.columnSpan: 2
                        Layout.fillWidth: true
                    }
                    Words {
                        visible: screen.server.isOpenToNetwork && screen.server.apiKey === ""
                        text: qsTr("Open to the network without a key: anybody who reaches this machine can use it.")
                        color: Theme.warning
                        wrapMode: Text.Wrap
                        Layout.columnSpan: 2
                        Layout.fillWidth: true
                    }
                }
            }
            Card {
                Layout.fillWidth: true
                implicitHeight: example.implicitHeight + 30
                ColumnLayout {
                    id: example
                    anchors.fill: parent
                    anchors.margins: 15
                    spacing: 10
                    RowLayout {
                        Layout.fillWidth: true
                        Words { text: qsTr("Try it"); font.weight: Font.DemiBold; Layout.fillWidth: true; Accessible.role: Accessible.Heading }
                        Segments {
                            label: qsTr("Example in")
                            options: [{ key: "curl", text: "curl" }, { key: "python", text: "Python" }]
                            current: screen.kind
                            onChosen: (key) => screen.kind = key
                        }
                    }
                    CodeBlock {
                        Layout.fillWidth: true
                        language: screen.kind === "curl" ? "sh" : "python"
                        // The address, the key and the model are part of it.
                        code: { screen.server.address; screen.server.apiKey; Session.host.current; return screen.server.example(screen.kind) }
                    }
                }
            }
        }
    }
}
