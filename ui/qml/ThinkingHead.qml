import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

// Above what a model thought: says so, and folds it away or shows it.
T.Button {
    id: head
    property bool isUnfolded: false
    property bool isThinking: false
    text: isThinking ? qsTr("Thinking…") : qsTr("Thinking")
    implicitWidth: line.implicitWidth + 8
    implicitHeight: line.implicitHeight + 8
    leftPadding: 0
    rightPadding: 8
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    Keys.onReturnPressed: clicked()
    Accessible.role: Accessible.Button
    Accessible.name: qsTr("Thinking")
    Accessible.description: isUnfolded ? qsTr("Shown. Press to fold it away.") : qsTr("Folded away. Press to show it.")
    contentItem: RowLayout {
        id: line
        spacing: 6
        Icon { name: "chevron"; size: 14; color: head.hovered ? Theme.ink : Theme.ink2; rotation: head.isUnfolded ? 0 : -90 }
        Words { text: head.text; color: head.hovered ? Theme.ink : Theme.ink2; Accessible.ignored: true }
    }
    background: Rectangle {
        radius: 6
        color: head.hovered ? Theme.sunken : Theme.none
        FocusRing { anchors.margins: -1; shown: head.visualFocus }
    }
}
