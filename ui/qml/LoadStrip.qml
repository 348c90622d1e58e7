import QtQuick
import QtQuick.Layouts
import Quern

// A load under way: stage, share, cancel.
Card {
    id: strip
    readonly property var host: Session.host
    visible: host.isLoading
    implicitHeight: visible ? line.implicitHeight + 20 : 0
    Accessible.role: Accessible.ProgressBar
    Accessible.name: qsTr("Loading %1: %2, %3 %").arg(host.loadingName).arg(host.loadStage).arg(Math.round(host.loadFraction * 100))
    RowLayout {
        id: line
        anchors.fill: parent
        anchors.margins: 10
        anchors.leftMargin: 14
        spacing: 12
        ColumnLayout {
            spacing: 6
            Layout.fillWidth: true
            Words { text: qsTr("Loading %1").arg(strip.host.loadingName); font.weight: Font.DemiBold; Layout.fillWidth: true }
            RowLayout {
                Words { text: strip.host.loadStage; color: Theme.ink2; font.pixelSize: Theme.caption; Layout.fillWidth: true }
                Words { text: qsTr("%1 %").arg(Math.round(strip.host.loadFraction * 100)); font.family: Theme.mono; font.pixelSize: Theme.caption }
            }
            Rectangle {
                Layout.fillWidth: true
                implicitHeight: 4
                radius: 2
                color: Theme.line
                Rectangle { width: parent.width * strip.host.loadFraction; height: 4; radius: 2; color: Theme.accent }
            }
        }
        PushButton { text: qsTr("Cancel"); onClicked: strip.host.cancelLoad() }
    }
}
