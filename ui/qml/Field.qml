import QtQuick
import QtQuick.Templates as T
import Quern

// One line of text. `label` is its accessible name.
T.TextField {
    id: control
    property string label: ""
    property bool isNumber: false

    implicitWidth: 160
    implicitHeight: Theme.control
    leftPadding: 10
    rightPadding: 10
    verticalAlignment: TextInput.AlignVCenter
    color: Theme.ink
    placeholderTextColor: Theme.ink2
    selectionColor: Theme.selection
    selectedTextColor: Theme.ink
    selectByMouse: true
    font.family: isNumber ? Theme.mono : Theme.sans
    font.pixelSize: Theme.small
    Accessible.role: Accessible.EditableText
    Accessible.name: label

    Words {
        x: control.leftPadding
        width: control.width - control.leftPadding - control.rightPadding
        height: control.height
        text: control.placeholderText
        color: control.placeholderTextColor
        visible: control.length === 0 && control.preeditText === ""
        Accessible.ignored: true
    }
    background: Rectangle {
        radius: 6
        color: Theme.surface
        border.width: control.activeFocus ? 2 : 1
        border.color: control.activeFocus ? Theme.accent : Theme.line
    }
}
