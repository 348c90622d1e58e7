import QtQuick
import QtTest
import Quern

TestCase {
    name: "Theme"

    function luminance(color) {
        const part = (v) => v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4)
        return 0.2126 * part(color.r) + 0.7152 * part(color.g) + 0.0722 * part(color.b)
    }
    function contrast(a, b) {
        const x = luminance(a), y = luminance(b)
        return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
    }
    function test_contrast_data() {
        return [{ tag: "light", dark: false }, { tag: "dark", dark: true }]
    }
    function test_contrast(row) {
        Theme.dark = row.dark
        for (const under of ["canvas", "surface", "sunken"]) {
            for (const over of ["ink", "ink2", "accent", "copper", "danger", "warning"]) {
                // Colour words never stand on the sunken ground in light.
                if (under === "sunken" && !row.dark && over !== "ink" && over !== "ink2")
                    continue
                verify(contrast(Theme[over], Theme[under]) >= 4.5,
                       over + " on " + under + ": " + contrast(Theme[over], Theme[under]).toFixed(2))
            }
        }
        verify(contrast(Theme.onAccent, Theme.accent) >= 4.5)
        Theme.dark = false
    }
    function test_textScaleIsBounded() {
        Theme.textScale = 9
        compare(Theme.textScale, 1.5)
        compare(Theme.caption, 18)
        Theme.textScale = 1
        compare(Theme.body, 15)
    }
}
