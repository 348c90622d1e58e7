import QtQuick
import QtQuick.Templates as T
import Quern

// Several lines of text, growing with them up to `tallest`, then scrolling.
FocusScope {
    id: area
    property alias text: edit.text
    property alias placeholder: hint.text
    property alias edit: edit
    property string label: ""
    property int tallest: 240
    property bool framed: true
    readonly property int pad: framed ? 10 : 0
    implicitHeight: Math.min(tallest, edit.implicitHeight + 2 * pad)
    implicitWidth: 100

    Rectangle {
        anchors.fill: parent
        visible: area.framed
        radius: 6
        color: Theme.surface
        border.width: edit.activeFocus ? 2 : 1
        border.color: edit.activeFocus ? Theme.accent : Theme.line
    }
    Flickable {
        id: flick
        anchors.fill: parent
        anchors.margins: area.pad
        clip: true
        contentWidth: width
        contentHeight: edit.implicitHeight
        boundsBehavior: Flickable.StopAtBounds
        T.ScrollBar.vertical: SlimBar {}
        function follow(r) {
            if (contentY > r.y)
                contentY = r.y
            else if (contentY + height < r.y + r.height)
                contentY = r.y + r.height - height
        }
        TextEdit {
            id: edit
            focus: true
            activeFocusOnTab: true
            // Tab goes on, as everywhere else.
            Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
            Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
            width: flick.width
            wrapMode: TextEdit.Wrap
            textFormat: TextEdit.PlainText
            color: Theme.ink
            selectionColor: Theme.selection
            selectedTextColor: Theme.ink
            selectByMouse: true
            font.family: Theme.sans
            font.pixelSize: area.framed ? Theme.small : Theme.body
            onCursorRectangleChanged: flick.follow(cursorRectangle)
            Accessible.role: Accessible.EditableText
            Accessible.name: area.label
            Accessible.multiLine: true
        }
    }
    Words {
        id: hint
        x: area.pad
        y: area.pad
        width: area.width - 2 * area.pad
        font.pixelSize: edit.font.pixelSize
        color: Theme.ink2
        visible: edit.length === 0 && edit.preeditText === ""
        Accessible.ignored: true
    }
}
