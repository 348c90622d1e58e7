import QtQuick
import Quern

// A warning sign and the words beside it. Anchors, not a layout: one in another layout keeps the
// height of words that had less room at first.
Item {
    id: remark
    property alias text: words.text
    property alias pixelSize: words.font.pixelSize
    implicitHeight: Math.max(mark.height, words.implicitHeight)
    Icon { id: mark; name: "warning"; color: Theme.warning }
    Words {
        id: words
        anchors.left: mark.right
        anchors.leftMargin: 8
        anchors.right: parent.right
        font.pixelSize: Theme.caption
        wrapMode: Text.Wrap
    }
}
