import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

Flickable {
    id: block
    property var cells: []
    property var alignments: []
    readonly property int columns: cells.length > 0 ? cells[0].length : 0
    implicitHeight: grid.implicitHeight + (contentWidth > width ? 12 : 0)
    contentWidth: Math.max(width, grid.implicitWidth)
    contentHeight: height
    clip: true
    boundsBehavior: Flickable.StopAtBounds
    T.ScrollBar.horizontal: SlimBar {}
    Accessible.role: Accessible.Table
    Accessible.name: qsTr("Table with %n row(s)", "", Math.max(0, cells.length - 1))

    GridLayout {
        id: grid
        columns: Math.max(1, block.columns)
        columnSpacing: 0
        rowSpacing: 0
        Repeater {
            model: block.columns * block.cells.length
            Item {
                id: cell
                required property int index
                readonly property int column: index % Math.max(1, block.columns)
                readonly property int line: Math.floor(index / Math.max(1, block.columns))
                Layout.fillWidth: true
                Layout.fillHeight: true
                implicitHeight: words.implicitHeight + 12
                implicitWidth: Math.min(280, words.implicitWidth + 24)
                Words {
                    id: words
                    anchors.fill: parent
                    anchors.leftMargin: 12
                    anchors.rightMargin: 12
                    text: block.cells[cell.line] && block.cells[cell.line][cell.column] !== undefined
                          ? block.cells[cell.line][cell.column] : ""
                    textFormat: Text.RichText
                    wrapMode: Text.Wrap
                    font.weight: cell.line === 0 ? Font.DemiBold : Font.Normal
                    horizontalAlignment: block.alignments[cell.column] || Text.AlignLeft
                    Accessible.role: Accessible.Cell
                }
                Rectangle {
                    anchors.bottom: parent.bottom
                    width: parent.width
                    height: 1
                    color: cell.line === 0 ? Theme.ink2 : Theme.line
                }
            }
        }
    }
}
