import QtQuick
import QtQuick.Layouts
import Quern

// How full the context is; amber from 80 %.
RowLayout {
    id: meter
    readonly property var source: Session.chat.meter
    property bool isNarrow: false
    visible: source.isKnown
    spacing: 8
    Accessible.role: Accessible.ProgressBar
    Accessible.name: qsTr("Context used: %1 tokens").arg(source.text)

    Rectangle {
        visible: !meter.isNarrow
        implicitWidth: 72
        implicitHeight: 4
        radius: 2
        color: Theme.line
        Rectangle {
            width: parent.width * Math.min(1, meter.source.fill)
            height: parent.height
            radius: 2
            color: meter.source.isOver ? Theme.danger : meter.source.isTight ? Theme.warning : Theme.ink2
        }
    }
    Words {
        text: meter.source.text
        font.family: Theme.mono
        font.pixelSize: Theme.caption
        color: meter.source.isOver ? Theme.danger : meter.source.isTight ? Theme.warning : Theme.ink2
        Layout.fillWidth: true
        Accessible.ignored: true
    }
}
