import QtQuick
import QtQuick.Templates as T
import Quern

// A modal sheet over the window. Escape closes it.
T.Popup {
    id: sheet
    property string name: ""
    modal: true
    focus: true
    dim: true
    padding: 24
    parent: T.Overlay.overlay
    anchors.centerIn: parent
    closePolicy: T.Popup.CloseOnEscape | T.Popup.CloseOnPressOutside
    implicitWidth: contentWidth + leftPadding + rightPadding
    implicitHeight: contentHeight + topPadding + bottomPadding
    background: Card { Accessible.role: Accessible.Dialog; Accessible.name: sheet.name }
    T.Overlay.modal: Rectangle { color: Theme.scrim }
}
