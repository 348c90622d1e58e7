import QtQuick
import QtQuick.Templates as T
import Quern

// What a control is called, after a moment under the pointer.
T.ToolTip {
    id: tip
    property bool shown: false
    visible: shown && text !== ""
    delay: 500
    y: parent ? parent.height + 6 : 0
    x: parent ? Math.round((parent.width - implicitWidth) / 2) : 0
    implicitWidth: Math.min(340, words.implicitWidth + 16)
    implicitHeight: words.implicitHeight + 10
    margins: 6
    padding: 0
    contentItem: Words {
        id: words
        text: tip.text
        color: Theme.canvas
        font.pixelSize: Theme.caption
        horizontalAlignment: Text.AlignHCenter
        wrapMode: Text.Wrap
        Accessible.ignored: true
    }
    background: Rectangle { radius: 4; color: Theme.ink }
}
