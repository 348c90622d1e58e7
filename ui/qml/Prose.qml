import QtQuick
import Quern

// Running text that can be selected.
TextEdit {
    readOnly: true
    selectByMouse: true
    textFormat: TextEdit.RichText
    wrapMode: TextEdit.Wrap
    color: Theme.ink
    selectionColor: Theme.selection
    selectedTextColor: Theme.ink
    font.family: Theme.sans
    font.pixelSize: Theme.body
    activeFocusOnPress: true
    onLinkActivated: (link) => { if (/^https?:/.test(link)) Qt.openUrlExternally(link) }
    HoverHandler { cursorShape: parent.hoveredLink !== "" ? Qt.PointingHandCursor : Qt.IBeamCursor }
    Accessible.role: Accessible.Paragraph
    Accessible.name: getText(0, length)
    Accessible.readOnly: true
}
