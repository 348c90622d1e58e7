import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

Rectangle {
    id: block
    property string code: ""
    property string language: ""
    property string title: language  // above it
    property bool copied: false
    implicitHeight: bar.implicitHeight + flick.height + 14
    radius: 6
    color: Theme.dark ? Theme.sunken : Theme.surface
    border.width: 1
    border.color: Theme.line
    Accessible.role: Accessible.Grouping
    Accessible.name: title !== language ? title : language === "" ? qsTr("Code") : qsTr("Code in %1").arg(language)

    RowLayout {
        id: bar
        x: 12
        width: parent.width - 18
        Words {
            text: block.title
            font.pixelSize: Theme.caption
            color: Theme.ink2
            Layout.fillWidth: true
        }
        GlyphButton {
            Layout.topMargin: 4
            glyph: block.copied ? "check" : "copy"
            tint: block.copied ? Theme.accent : Theme.ink2
            text: qsTr("Copy code")
            onClicked: { Session.chat.copy(block.code); block.copied = true; back.start() }
        }
    }
    Timer { id: back; interval: 1500; onTriggered: block.copied = false }
    Flickable {
        id: flick
        x: 12
        y: bar.implicitHeight + 2
        width: parent.width - 24
        height: edit.implicitHeight + (contentWidth > width ? 10 : 0)
        contentWidth: edit.implicitWidth
        contentHeight: height
        clip: true
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        T.ScrollBar.horizontal: SlimBar {}
        TextEdit {
            id: edit
            text: block.code
            textFormat: TextEdit.PlainText
            readOnly: true
            selectByMouse: true
            color: Theme.ink
            selectionColor: Theme.selection
            selectedTextColor: Theme.ink
            font.family: Theme.mono
            font.pixelSize: Theme.small
            Accessible.role: Accessible.Paragraph
            Accessible.name: text
            Accessible.readOnly: true
        }
    }
}
