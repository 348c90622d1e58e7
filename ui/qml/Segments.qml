import QtQuick
import QtQuick.Templates as T
import Quern

// A choice of few, all in sight. `options` are {key, text}.
Row {
    id: control
    property var options: []
    property string current: ""
    property string label: ""
    signal chosen(string key)
    spacing: -1
    Accessible.role: Accessible.Grouping
    Accessible.name: label

    Repeater {
        model: control.options
        T.Button {
            id: one
            required property var modelData
            readonly property bool isOn: modelData.key === control.current
            implicitHeight: Theme.control
            implicitWidth: words.implicitWidth + 24
            hoverEnabled: true
            focusPolicy: Qt.StrongFocus
            z: isOn || visualFocus ? 1 : 0
            Accessible.role: Accessible.RadioButton
            Accessible.name: modelData.text
            Accessible.checked: isOn
            onClicked: control.chosen(modelData.key)
            Keys.onReturnPressed: clicked()
            contentItem: Words {
                id: words
                text: one.modelData.text
                horizontalAlignment: Text.AlignHCenter
                color: one.isOn ? Theme.ink : Theme.ink2
                font.weight: one.isOn ? Font.DemiBold : Font.Normal
                Accessible.ignored: true
            }
            background: Rectangle {
                radius: 4
                color: one.isOn ? Theme.surface : one.hovered ? Theme.surface : Theme.sunken
                border.width: 1
                border.color: one.isOn ? Theme.accent : Theme.line
                FocusRing { shown: one.visualFocus }
            }
        }
    }
}
