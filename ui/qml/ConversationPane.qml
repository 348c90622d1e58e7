import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

// The list of conversations: search, new, rename, delete.
ColumnLayout {
    id: pane
    readonly property var list: Session.chat.conversations
    property var renaming: 0
    spacing: 8
    function focusSearch() { search.forceActiveFocus(); search.selectAll() }

    RowLayout {
        Layout.fillWidth: true
        Layout.margins: 12
        Layout.bottomMargin: 0
        spacing: 8
        Field {
            id: search
            label: qsTr("Search conversations")
            placeholderText: qsTr("Search")
            Layout.fillWidth: true
            onTextChanged: pane.list.search = text
            Keys.onEscapePressed: text = ""
            Keys.onDownPressed: view.forceActiveFocus()
        }
        GlyphButton {
            glyph: "plus"
            extent: 32
            text: qsTr("New conversation (Ctrl+N)")
            onClicked: Session.chat.newConversation()
        }
    }
    ListView {
        id: view
        Layout.fillWidth: true
        Layout.fillHeight: true
        clip: true
        model: pane.list
        boundsBehavior: Flickable.StopAtBounds
        keyNavigationEnabled: true
        activeFocusOnTab: true
        // The keys' place outlives a list that is read anew.
        property var place: 0
        onCurrentItemChanged: if (currentItem) place = currentItem.conversation
        Connections {
            target: pane.list
            function onListed() {
                const row = pane.list.rowOf(view.place)
                view.currentIndex = row >= 0 ? row : Math.max(0, pane.list.rowOf(Session.chat.conversation))
            }
        }
        T.ScrollBar.vertical: SlimBar {}
        section.property: search.text === "" ? "when" : ""
        section.delegate: Words {
            required property string section
            text: section
            font.pixelSize: Theme.caption
            color: Theme.ink2
            leftPadding: 20
            topPadding: 10
            bottomPadding: 4
            width: view.width
        }
        Keys.onReturnPressed: if (currentItem) Session.chat.open(currentItem.conversation)
        Keys.onDeletePressed: if (currentItem) pane.list.remove(currentItem.conversation)
        Keys.onPressed: (event) => {
            event.accepted = event.key === Qt.Key_F2 && currentItem
            if (event.accepted)
                pane.renaming = currentItem.conversation
        }
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Conversations")

        delegate: Item {
            id: row
            required property var conversation
            required property string title
            required property string snippet
            required property bool isWriting
            required property int index
            readonly property bool isOpen: Session.chat.conversation === conversation
            readonly property bool isRenamed: pane.renaming === conversation
            width: view.width
            height: words.implicitHeight + 14
            Accessible.role: Accessible.ListItem
            Accessible.name: title
            Accessible.selected: isOpen
            Accessible.onPressAction: Session.chat.open(conversation)

            Rectangle {
                anchors.fill: parent
                anchors.leftMargin: 8
                anchors.rightMargin: 8
                radius: 6
                color: row.isOpen ? Theme.surface : hover.hovered ? Theme.sunken : Theme.none
                border.width: row.isOpen ? 1 : 0
                border.color: Theme.line
                FocusRing {
                    anchors.margins: 0
                    shown: view.activeFocus && view.currentIndex === row.index
                }
            }
            HoverHandler { id: hover }
            TapHandler {
                onTapped: { view.currentIndex = row.index; Session.chat.open(row.conversation) }
                onDoubleTapped: pane.renaming = row.conversation
            }
            ColumnLayout {
                id: words
                x: 20
                width: parent.width - 40 - (actions.visible ? actions.width : 0)
                anchors.verticalCenter: parent.verticalCenter
                spacing: 1
                visible: !row.isRenamed
                RowLayout {
                    spacing: 6
                    Rectangle { visible: row.isWriting; width: 6; height: 6; radius: 3; color: Theme.accent }
                    Words {
                        text: row.title
                        color: row.isOpen ? Theme.ink : Theme.ink2
                        Layout.fillWidth: true
                        Accessible.ignored: true
                    }
                }
                Words {
                    visible: row.snippet !== ""
                    text: row.snippet
                    font.pixelSize: Theme.caption
                    color: Theme.ink2
                    Layout.fillWidth: true
                }
            }
            Row {
                id: actions
                anchors.right: parent.right
                anchors.rightMargin: 12
                anchors.verticalCenter: parent.verticalCenter
                visible: hover.hovered && !row.isRenamed
                GlyphButton { extent: 24; glyph: "edit"; text: qsTr("Rename"); onClicked: pane.renaming = row.conversation }
                GlyphButton { extent: 24; glyph: "trash"; text: qsTr("Delete"); onClicked: pane.list.remove(row.conversation) }
            }
            Loader {
                active: row.isRenamed
                x: 10
                width: parent.width - 20
                anchors.verticalCenter: parent.verticalCenter
                sourceComponent: Field {
                    label: qsTr("New name")
                    text: row.title
                    Component.onCompleted: { forceActiveFocus(); selectAll() }
                    onAccepted: { pane.list.rename(row.conversation, text); view.forceActiveFocus() }
                    onActiveFocusChanged: if (!activeFocus) pane.renaming = 0
                    Keys.onEscapePressed: view.forceActiveFocus()
                }
            }
        }
        Words {
            anchors.centerIn: parent
            width: parent.width - 40
            visible: view.count === 0
            text: search.text === "" ? qsTr("Your conversations will be listed here.") : qsTr("Nothing matches.")
            color: Theme.ink2
            wrapMode: Text.Wrap
            horizontalAlignment: Text.AlignHCenter
        }
    }
    Remark {
        visible: pane.list.isPassing
        text: qsTr("Nothing here is saved: it lasts until this window is closed.")
        Layout.fillWidth: true
        Layout.margins: 12
        Layout.topMargin: 4
    }
}
