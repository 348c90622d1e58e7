import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

FocusScope {
    id: screen
    readonly property var monitor: Session.monitor
    property string tab: "throughput"

    Binding { target: Session.feed; property: "isWatched"; value: screen.visible }
    Keys.onSpacePressed: monitor.isPaused = !monitor.isPaused

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: 20
        anchors.topMargin: 16
        spacing: 16
        RowLayout {
            Layout.fillWidth: true
            spacing: 6
            ScreenTitle { text: qsTr("Monitor"); Layout.fillWidth: true }
            Words {
                text: screen.monitor.isPaused ? qsTr("Paused") : qsTr("Live · 10 Hz")
                color: screen.monitor.isPaused ? Theme.warning : Theme.accent
            }
            T.Button {
                id: pause
                text: screen.monitor.isPaused ? qsTr("Space to go on") : qsTr("Space to pause")
                implicitWidth: pauseWords.implicitWidth
                implicitHeight: pauseWords.implicitHeight
                focusPolicy: Qt.TabFocus
                hoverEnabled: true
                onClicked: screen.monitor.isPaused = !screen.monitor.isPaused
                Keys.onReturnPressed: clicked()
                Accessible.role: Accessible.Button
                Accessible.name: screen.monitor.isPaused ? qsTr("Go on") : qsTr("Pause")
                contentItem: Words { id: pauseWords; text: pause.text; color: pause.hovered ? Theme.ink : Theme.ink2; Accessible.ignored: true }
                background: Item { FocusRing { shown: pause.visualFocus } }
            }
        }
        RowLayout {
            Layout.fillWidth: true
            spacing: 12
            readonly property bool isKnown: screen.monitor.modelName !== ""
            id: figures
            component Tile: Figure { Layout.fillWidth: true; Layout.preferredWidth: 100; isKnown: figures.isKnown }
            // No time was measured yet: that is not zero.
            component Time: Tile { isKnown: figures.isKnown && value !== "0"; unit: qsTr("ms") }
            Tile { label: qsTr("Decode"); value: screen.monitor.decode; unit: qsTr("tok/s") }
            Tile { label: qsTr("Prefill"); value: screen.monitor.prefill; unit: qsTr("tok/s") }
            Time { label: qsTr("TTFT p95"); value: screen.monitor.ttft }
            Time { label: qsTr("ITL p95"); value: screen.monitor.interToken }
            Tile { label: qsTr("Running"); value: screen.monitor.running; unit: qsTr("+%1 waiting").arg(screen.monitor.waiting) }
            Tile { label: qsTr("Prefix hits"); value: screen.monitor.prefixHits; unit: "%" }
        }
        KvMapCard {
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.minimumHeight: 140
        }
        Card {
            Layout.fillWidth: true
            Layout.preferredHeight: Math.max(150, Math.min(220, screen.height * 0.25))
            ColumnLayout {
                anchors.fill: parent
                anchors.margins: 15
                spacing: 8
                RowLayout {
                    Layout.fillWidth: true
                    spacing: 4
                    Segments {
                        label: qsTr("What is shown")
                        current: screen.tab
                        options: [
                            { key: "throughput", text: qsTr("Throughput") },
                            { key: "requests", text: qsTr("Requests") + (screen.monitor.requests.count > 0 ? " · " + screen.monitor.requests.count : "") }
                        ]
                        onChosen: (key) => screen.tab = key
                    }
                    Item { Layout.fillWidth: true }
                    Words { visible: screen.tab === "throughput"; text: chart.legend(true); color: Theme.accent; Layout.fillWidth: true; Layout.maximumWidth: Math.ceil(implicitWidth) + 1 }
                    Words { visible: screen.tab === "throughput"; text: chart.legend(false); color: Theme.copper; Layout.leftMargin: 8; Layout.fillWidth: true; Layout.maximumWidth: Math.ceil(implicitWidth) + 1 }
                }
                ThroughputChart {
                    id: chart
                    visible: screen.tab === "throughput"
                    Layout.fillWidth: true
                    Layout.fillHeight: true
                }
                RequestList {
                    visible: screen.tab === "requests"
                    Layout.fillWidth: true
                    Layout.fillHeight: true
                }
            }
        }
    }
}
