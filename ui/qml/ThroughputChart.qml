import QtQuick
import Quern

// Decode and prefill over the last two minutes, with a crosshair under the pointer.
Item {
    readonly property int sample: hover.hovered ? chart.sampleAt(hover.point.position.x) : -1
    function legend(ofDecode) {
        const name = ofDecode ? qsTr("decode") : qsTr("prefill")
        const value = sample >= 0 ? chart.valueText(sample, ofDecode) : ""
        if (value !== "")
            return qsTr("%1 %2 tok/s").arg(name).arg(value)
        // The scale's end, once there is something to measure by it.
        const top = ofDecode ? chart.firstTop : chart.secondTop
        return top > 1 ? qsTr("%1 to %2").arg(name).arg(chart.topText(ofDecode)) : name
    }
    HoverHandler { id: hover }
    ChartItem {
        id: chart
        anchors.fill: parent
        first: Session.monitor.decodeHistory
        second: Session.monitor.prefillHistory
        firstColor: Theme.accent
        secondColor: Theme.copper
        gridColor: Theme.line
        crosshair: hover.hovered ? hover.point.position.x : -1
        Accessible.role: Accessible.Chart
        Accessible.name: qsTr("Throughput of the last two minutes")
        Accessible.description: qsTr("Decode %1, prefill %2 tokens a second now").arg(Session.monitor.decode).arg(Session.monitor.prefill)
    }
}
