import QtQuick
import QtQuick.Templates as T
import Quern

T.Button {
    id: control
    property bool primary: false
    property bool dangerous: false
    property string glyph: ""
    readonly property color inkNow: !enabled ? Theme.ink2 : primary ? Theme.onAccent
                                  : dangerous ? Theme.danger : Theme.ink

    implicitWidth: Math.max(implicitHeight, row.implicitWidth + 24)
    implicitHeight: Theme.control
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    font.family: Theme.sans
    font.pixelSize: Theme.small
    Accessible.role: Accessible.Button
    Accessible.name: text
    Keys.onReturnPressed: clicked()
    Keys.onEnterPressed: clicked()

    contentItem: Item {
        Row {
            id: row
            anchors.centerIn: parent
            spacing: 6
            Icon {
                visible: control.glyph !== ""
                name: control.glyph
                color: control.inkNow
                anchors.verticalCenter: parent.verticalCenter
            }
            Words {
                visible: text !== "" && control.display !== T.AbstractButton.IconOnly
                text: control.text
                color: control.inkNow
                font.weight: control.primary ? Font.DemiBold : Font.Normal
                Accessible.ignored: true
            }
        }
    }
    background: Rectangle {
        radius: 6
        color: control.primary
               ? (!control.enabled ? Theme.sunken
                  : control.down ? Theme.mix(Theme.ink, Theme.accent, 0.2)
                  : control.hovered ? Theme.mix(Theme.ink, Theme.accent, 0.1) : Theme.accent)
               : control.down ? Theme.line : control.hovered ? Theme.sunken : Theme.surface
        border.width: control.primary ? 0 : 1
        border.color: Theme.line
        FocusRing { shown: control.visualFocus }
    }
}
