import QtQuick
import QtQuick.Templates as T
import Quern

// A button that is only a drawing; `text` is its name, shown when pointed at and read out.
T.Button {
    id: control
    property string glyph: ""
    property color tint: Theme.ink2
    property int extent: 28

    implicitWidth: Math.round(extent * Theme.textScale)
    implicitHeight: implicitWidth
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    Accessible.role: Accessible.Button
    Accessible.name: text
    Keys.onReturnPressed: clicked()
    Keys.onEnterPressed: clicked()

    contentItem: Item {
        Icon {
            anchors.centerIn: parent
            name: control.glyph
            size: Math.round(16 * Theme.textScale)
            color: control.hovered && control.enabled ? Theme.ink : control.tint
            opacity: control.enabled ? 1 : 0.4
        }
    }
    background: Rectangle {
        radius: 6
        color: control.down ? Theme.line : control.hovered ? Theme.sunken : Theme.none
        FocusRing { shown: control.visualFocus }
    }
    Hint { shown: control.hovered || control.visualFocus; text: control.text }
}
