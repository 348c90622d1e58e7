import QtQuick
import QtQuick.Templates as T
import Quern

// A switch that does something at once. On is a filled track and a knob to the right.
T.Switch {
    id: control
    spacing: 10
    implicitHeight: Math.max(Theme.control, words.implicitHeight)
    implicitWidth: text === "" ? 36 : words.implicitWidth
    focusPolicy: Qt.StrongFocus
    Accessible.role: Accessible.CheckBox
    Accessible.name: text
    Accessible.checked: checked
    Keys.onReturnPressed: { toggle(); toggled() }

    indicator: Rectangle {
        width: 36
        height: 20
        radius: 10
        y: (control.height - height) / 2
        color: control.checked ? Theme.accent : Theme.sunken
        border.width: 1
        border.color: control.checked ? Theme.accent : Theme.ink2
        opacity: control.enabled ? 1 : 0.5
        Rectangle {
            width: 14
            height: 14
            radius: 7
            y: 3
            x: control.checked ? 19 : 3
            color: control.checked ? Theme.onAccent : Theme.ink2
            Behavior on x { NumberAnimation { duration: Theme.quick } }
        }
        FocusRing { shown: control.visualFocus; radius: 12 }
    }
    contentItem: Words {
        id: words
        visible: control.text !== ""
        leftPadding: 36 + control.spacing
        text: control.text
        wrapMode: Text.Wrap
        Accessible.ignored: true
    }
}
