import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

// Requests that run or wait, each with its colour in the map and a way to end it.
ListView {
    id: list
    readonly property var widths: [84, 90, 76, 96, 70, 60, 56, 60, 70]
    clip: true
    model: Session.monitor.requests
    boundsBehavior: Flickable.StopAtBounds
    activeFocusOnTab: true
    keyNavigationEnabled: true
    onCountChanged: if (currentIndex < 0 && count > 0) currentIndex = 0
    Keys.onDeletePressed: if (currentItem) Session.monitor.cancel(currentItem.request)
    T.ScrollBar.vertical: SlimBar {}
    FollowFocus { view: list; covered: list.headerItem ? list.headerItem.height : 0 }
    highlightRangeMode: ListView.ApplyRange
    preferredHighlightBegin: headerItem ? headerItem.height : 0
    preferredHighlightEnd: height
    highlightMoveDuration: 0
    Accessible.role: Accessible.Table
    Accessible.name: qsTr("Requests")

    component Cell: Words {
        property int column: 0
        font.pixelSize: Theme.caption
        Layout.preferredWidth: Math.round(list.widths[column] * Theme.textScale)
    }
    component Number: Cell { font.family: Theme.mono; horizontalAlignment: Text.AlignRight }

    headerPositioning: ListView.OverlayHeader
    header: Rectangle {
        width: list.width
        height: head.implicitHeight + 8
        z: 2
        color: Theme.surface
        RowLayout {
            id: head
            width: parent.width
            spacing: 8
            Cell { column: 0; text: qsTr("Request"); color: Theme.ink2; leftPadding: 18 }
            Cell { column: 1; text: qsTr("From"); color: Theme.ink2 }
            Cell { column: 2; text: qsTr("State"); color: Theme.ink2 }
            Cell { column: 3; text: qsTr("Prompt"); color: Theme.ink2; horizontalAlignment: Text.AlignRight }
            Cell { column: 4; text: qsTr("Written"); color: Theme.ink2; horizontalAlignment: Text.AlignRight }
            Cell { column: 5; text: qsTr("Blocks"); color: Theme.ink2; horizontalAlignment: Text.AlignRight }
            Cell { column: 6; text: qsTr("Hit, %"); color: Theme.ink2; horizontalAlignment: Text.AlignRight }
            Cell { column: 7; text: qsTr("Age, s"); color: Theme.ink2; horizontalAlignment: Text.AlignRight }
            Cell { column: 8; text: qsTr("tok/s"); color: Theme.ink2; horizontalAlignment: Text.AlignRight }
            Item { Layout.fillWidth: true }
        }
    }
    delegate: Item {
        id: row
        required property var request
        required property string client
        required property string stateName
        required property string reason
        required property int hue
        required property string progress
        required property string generated
        required property string blocks
        required property string cached
        required property string age
        required property string rate
        readonly property var stateNames: ({
            waiting: qsTr("waiting"), prefill: qsTr("prefill"), decode: qsTr("decode"),
            paused: qsTr("paused"), preempted: qsTr("preempted")
        })
        width: list.width
        height: line.implicitHeight + 2
        required property int index
        FocusRing { anchors.margins: 0; radius: 4; shown: list.activeFocus && list.currentIndex === row.index }
        Accessible.role: Accessible.Row
        Accessible.name: qsTr("Request %1, %2").arg(request).arg(stateNames[stateName])
        RowLayout {
            id: line
            width: parent.width
            spacing: 8
            Number {
                column: 0
                text: String(row.request)
                leftPadding: 18
                horizontalAlignment: Text.AlignLeft
                Rectangle { width: 10; height: 10; radius: 2; anchors.verticalCenter: parent.verticalCenter; color: row.blocks === "0" ? Theme.line : Theme.sequences[row.hue % 8] }
            }
            Cell { column: 1; text: row.client }
            Cell { column: 2; text: row.stateNames[row.stateName]; color: row.stateName === "decode" ? Theme.accent : row.stateName === "prefill" ? Theme.copper : Theme.ink2 }
            Number { column: 3; text: row.progress }
            Number { column: 4; text: row.generated }
            Number { column: 5; text: row.blocks }
            Number { column: 6; text: row.cached }
            Number { column: 7; text: row.age }
            Number { column: 8; text: row.rate }
            Words { text: row.reason; color: Theme.ink2; font.pixelSize: Theme.caption; Layout.fillWidth: true; leftPadding: 8 }
            GlyphButton { extent: 22; glyph: "close"; text: qsTr("Cancel request %1 (Del)").arg(row.request); onClicked: Session.monitor.cancel(row.request) }
        }
    }
    Words {
        anchors.centerIn: parent
        visible: list.count === 0
        text: qsTr("Nothing runs and nothing waits.")
        color: Theme.ink2
    }
}
