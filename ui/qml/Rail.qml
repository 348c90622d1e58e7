import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

// The left rail: screens, and the engine card at its foot.
Rectangle {
    id: rail
    property var screens: []
    readonly property var names: ({
        chat: qsTr("Chat"), models: qsTr("Models"), monitor: qsTr("Monitor"),
        server: qsTr("Server"), settings: qsTr("Settings")
    })
    implicitWidth: Math.round(184 * (1 + (Theme.textScale - 1) / 2))
    color: Theme.sunken

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: 12
        spacing: 2
        Repeater {
            model: rail.screens
            T.Button {
                id: item
                required property string modelData
                required property int index
                readonly property bool isCurrent: Session.screen === modelData
                Layout.fillWidth: true
                implicitHeight: Math.round(34 * Theme.textScale)
                text: rail.names[modelData]
                hoverEnabled: true
                focusPolicy: Qt.StrongFocus
                onClicked: Session.screen = modelData
                Keys.onReturnPressed: clicked()
                Accessible.role: Accessible.PageTab
                Accessible.name: text
                Accessible.description: qsTr("Ctrl+%1").arg(index + 1)
                Accessible.selected: isCurrent
                background: Rectangle {
                    radius: 6
                    color: item.isCurrent ? Theme.surface : item.hovered ? Theme.canvas : Theme.none
                    Rectangle {
                        visible: item.isCurrent
                        width: 3
                        height: parent.height - 14
                        anchors.verticalCenter: parent.verticalCenter
                        color: Theme.accent
                    }
                    FocusRing { shown: item.visualFocus }
                }
                contentItem: RowLayout {
                    Words {
                        leftPadding: 12
                        text: item.text
                        color: item.isCurrent ? Theme.ink : Theme.ink2
                        font.weight: item.isCurrent ? Font.DemiBold : Font.Normal
                        Layout.fillWidth: true
                        Accessible.ignored: true
                    }
                    Rectangle {
                        // Something is going on there: a load, a reply, a running server.
                        readonly property bool isOn: item.modelData === "models" ? Session.host.isLoading
                                                   : item.modelData === "chat" ? Session.chat.isBusy && !item.isCurrent
                                                   : item.modelData === "server" ? Session.server.isOn : false
                        visible: isOn
                        width: 6
                        height: 6
                        radius: 3
                        color: Theme.accent
                        Layout.rightMargin: 12
                    }
                }
            }
        }
        Item { Layout.fillHeight: true }
        EngineCard { Layout.fillWidth: true }
    }
    Rectangle {
        anchors.right: parent.right
        width: 1
        height: parent.height
        color: Theme.line
        visible: Theme.dark
    }
}
