import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Quern

ApplicationWindow {
    id: window
    width: Math.max(960, Number(Session.remembered("window.width")) || 1280)
    height: Math.max(600, Number(Session.remembered("window.height")) || 800)
    minimumWidth: 960
    minimumHeight: 600
    visible: true
    title: [place, model, qsTr("Quern")].filter(part => part !== "").join(" – ")
    color: Theme.canvas

    readonly property var screens: ["chat", "models", "monitor", "server", "settings"]
    readonly property bool isChat: Session.screen === "chat"
    // What the window is at, for lists of windows.
    readonly property string place: isChat ? Session.chat.title
        : Session.screen === "monitor" ? qsTr("Monitor: %1 running").arg(Session.monitor.running)
        : rail.names[Session.screen]
    readonly property string model: Session.host.isLoading ? qsTr("loading %1").arg(Session.host.loadingName)
                                                           : Session.host.current

    Binding {
        target: Session.feed
        property: "isShown"
        value: window.visible && window.visibility !== Window.Minimized
    }
    onClosing: {
        if (visibility === Window.Windowed) {
            Session.remember("window.width", String(width))
            Session.remember("window.height", String(height))
        }
    }
    Connections {
        target: Session
        function onRaiseAsked() {
            window.show()
            window.raise()
            window.requestActivate()
        }
    }

    RowLayout {
        anchors.fill: parent
        spacing: 0
        Rail {
            id: rail
            screens: window.screens
            Layout.fillHeight: true
        }
        ColumnLayout {
            spacing: 0
            MessageBar { Layout.fillWidth: true }
            Item {
                Layout.fillWidth: true
                Layout.fillHeight: true
                Repeater {
                    model: [
                        { key: "chat", file: "ChatScreen.qml" },
                        { key: "models", file: "ModelsScreen.qml" },
                        { key: "monitor", file: "MonitorScreen.qml" },
                        { key: "server", file: "ServerScreen.qml" },
                        { key: "settings", file: "SettingsScreen.qml" }
                    ]
                    // A screen is made when it is first asked for, and kept.
                    Loader {
                        required property var modelData
                        readonly property bool isCurrent: Session.screen === modelData.key
                        anchors.fill: parent
                        visible: isCurrent
                        focus: isCurrent
                        active: isCurrent || status === Loader.Ready
                        source: modelData.file
                        // Keys go to the screen that was just opened, and Tab goes on in it.
                        onLoaded: if (isCurrent) item.forceActiveFocus()
                        onIsCurrentChanged: if (isCurrent && item) item.forceActiveFocus()
                        Keys.onTabPressed: item.nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
                    }
                }
            }
        }
    }

    DropArea {
        anchors.fill: parent
        onDropped: drop => {
            if (drop.hasUrls && drop.urls.length > 0) {
                Session.screen = "models"
                Session.shelf.addFile(drop.urls[0])
            }
        }
        Rectangle {
            anchors.fill: parent
            anchors.margins: 8
            visible: parent.containsDrag
            color: Theme.none
            border.width: 2
            border.color: Theme.accent
            radius: 8
        }
    }

    ShortcutSheet { id: help }

    Instantiator {
        model: window.screens
        delegate: Shortcut {
            required property int index
            required property string modelData
            sequence: "Ctrl+" + (index + 1)
            onActivated: Session.screen = modelData
        }
    }
    Shortcut {
        sequence: "Ctrl+N"
        onActivated: {
            Session.screen = "chat"
            Session.chat.newConversation()
        }
    }
    Shortcut { sequence: "Ctrl+I"; onActivated: { Session.screen = "chat"; Session.isInspectorOpen = !Session.isInspectorOpen } }
    Shortcut { sequence: "Ctrl+L"; onActivated: Session.screen = "models" }
    Shortcut { sequence: "Esc"; enabled: window.isChat && Session.chat.isBusy; onActivated: Session.chat.stop() }
    Shortcut { sequence: "Ctrl+R"; enabled: window.isChat; onActivated: Session.chat.regenerate(0) }
    Shortcut { sequence: "Alt+Left"; enabled: window.isChat; onActivated: Session.chat.selectBranch(Session.chat.lastReply(), -1) }
    Shortcut { sequence: "Alt+Right"; enabled: window.isChat; onActivated: Session.chat.selectBranch(Session.chat.lastReply(), 1) }
    Shortcut { sequence: "F1"; onActivated: help.open() }
    Shortcut {
        sequence: "?"
        // While text is written, a question mark is a question mark.
        enabled: !(window.activeFocusItem && window.activeFocusItem.hasOwnProperty("cursorPosition"))
        onActivated: help.open()
    }
    Shortcut { sequence: "F11"; onActivated: window.visibility = window.visibility === Window.FullScreen ? Window.Windowed : Window.FullScreen }
    Shortcut { sequence: "Ctrl+Q"; onActivated: window.close() }
}
