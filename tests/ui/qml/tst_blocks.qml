import QtQuick
import QtTest
import Quern

Item {
    width: 600
    height: 600
    TableBlock {
        id: table
        width: 400
        height: implicitHeight
        cells: [["Grain", "Gap"], ["Wheat", "<b>0.3</b>"], ["Rye"]]
        alignments: [Qt.AlignLeft, Qt.AlignRight]
    }
    Prose { id: prose; y: 200; width: 300; text: "one <b>two</b>" }
    Icon { id: icon; y: 300; name: "plus"; color: Theme.ink }
    Icon { id: unknown; y: 320; name: "no such drawing"; color: Theme.ink }

    TestCase {
        name: "Blocks"
        when: windowShown
        function test_tableWithAMissingCell() {
            compare(table.columns, 2)
            verify(table.implicitHeight > 60)
            compare(table.Accessible.name.indexOf("2") >= 0, true)
        }
        function test_proseIsReadOutAsPlainText() {
            compare(prose.Accessible.name, "one two")
            verify(prose.readOnly)
        }
        function test_iconSizes() {
            icon.size = 24
            compare(icon.implicitWidth, 24)
            compare(unknown.implicitWidth, 16)
        }
    }
}
