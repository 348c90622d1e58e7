import QtQuick
import QtTest
import Quern

Item {
    width: 600
    height: 400

    PushButton { id: button; text: "Do it"; property int clicks: 0; onClicked: ++clicks }
    Toggle { id: toggle; y: 40; text: "Server" }
    Segments {
        id: segments
        y: 80
        options: [{ key: "a", text: "A" }, { key: "b", text: "B" }]
        current: "a"
        onChosen: (key) => current = key
    }
    Area { id: area; y: 120; width: 200; tallest: 80; label: "Message" }
    Field { id: field; y: 220; label: "Port"; placeholderText: "none" }
    Figure { id: figure; y: 260; label: "Decode"; value: "12"; unit: "tok/s" }
    FitChip { id: chip; y: 350; fit: "tight" }

    TestCase {
        name: "Controls"
        when: windowShown

        function test_buttonByMouseAndKeyboard() {
            mouseClick(button)
            compare(button.clicks, 1)
            button.forceActiveFocus()
            keyClick(Qt.Key_Return)
            keyClick(Qt.Key_Space)
            compare(button.clicks, 3)
            button.enabled = false
            mouseClick(button)
            compare(button.clicks, 3)
            button.enabled = true
        }
        function test_toggle() {
            mouseClick(toggle)
            verify(toggle.checked)
            toggle.forceActiveFocus()
            keyClick(Qt.Key_Return)
            verify(!toggle.checked)
        }
        function test_segments() {
            mouseClick(segments, segments.width - 5, segments.height / 2)
            compare(segments.current, "b")
        }
        function test_areaGrowsAndStops() {
            area.text = "one"
            const short_ = area.implicitHeight
            area.text = "one\ntwo\nthree"
            verify(area.implicitHeight > short_)
            area.text = "\n".repeat(50)
            compare(area.implicitHeight, 80)
        }
        function test_areaTakesTheFocusForItsText() {
            area.edit.forceActiveFocus()
            area.text = ""
            keyClick(Qt.Key_H)
            compare(area.text, "h")
        }
        function test_tabLeavesTheText() {
            area.text = "a"
            area.edit.forceActiveFocus()
            keyClick(Qt.Key_Tab)
            compare(area.text, "a")
            verify(field.activeFocus)
            keyClick(Qt.Key_Backtab)
            verify(area.edit.activeFocus)
        }
        function test_accessibleNames() {
            compare(button.Accessible.name, "Do it")
            compare(toggle.Accessible.name, "Server")
            compare(field.Accessible.name, "Port")
            compare(figure.Accessible.name, "Decode: 12 tok/s")
        }
        function test_focusIsVisibleForTheKeyboardOnly() {
            mouseClick(button)
            verify(!button.visualFocus)
            field.forceActiveFocus()
            button.forceActiveFocus(Qt.TabFocusReason)
            verify(button.visualFocus)
        }
        function test_fitIsToldInWords() {
            compare(chip.children[0].text, "Tight")
            compare(chip.children[0].color, Theme.warning)
        }
    }
}
