import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Quern

// The conversation: a row a block, in a column of 72 characters.
ListView {
    id: view
    readonly property int measure: Math.round(metrics.averageCharacterWidth * 72)
    readonly property int column: Math.min(measure, width - 48)
    readonly property int inset: Math.round((width - column) / 2)
    property bool isAtEnd: true
    signal editAsked(var turn)

    FontMetrics { id: metrics; font.family: Theme.sans; font.pixelSize: Theme.body }

    clip: true
    model: Session.chat.transcript
    boundsBehavior: Flickable.StopAtBounds
    cacheBuffer: 2400
    reuseItems: false
    bottomMargin: 20
    activeFocusOnTab: true
    section.property: "isThought"  // for the room below what was thought
    currentIndex: -1  // the keys stay with the list: they scroll it
    T.ScrollBar.vertical: SlimBar { id: bar; onPressedChanged: if (!pressed) view.isAtEnd = view.atYEnd }
    Accessible.role: Accessible.List
    Accessible.name: qsTr("Transcript")
    Keys.onUpPressed: scrollBy(-48)
    Keys.onDownPressed: scrollBy(48)
    Keys.onPressed: (event) => {
        event.accepted = true
        if (event.key === Qt.Key_PageUp) {
            scrollBy(-0.9 * height)
        } else if (event.key === Qt.Key_PageDown) {
            scrollBy(0.9 * height)
        } else if (event.key === Qt.Key_Home) {
            isAtEnd = false
            positionViewAtBeginning()
        } else if (event.key === Qt.Key_End) {
            isAtEnd = true
            toEnd()
        } else {
            event.accepted = false
        }
    }
    function scrollBy(distance) {
        follow.scrollTo(contentY + distance)
        isAtEnd = atYEnd
    }
    FollowFocus { id: follow; view: view }

    onMovementEnded: isAtEnd = atYEnd
    onHeightChanged: settle()
    onContentHeightChanged: settle()
    function settle() { if (isAtEnd) Qt.callLater(toEnd) }
    // Twice: rows that come into sight turn their estimated heights into real ones.
    function toEnd() {
        forceLayout()
        positionViewAtEnd()
        forceLayout()
        positionViewAtEnd()
    }
    Connections {
        target: Session.chat
        function onOpened() { view.isAtEnd = true; view.settle() }
        function onGrew() { view.settle() }
    }

    delegate: TranscriptRow {
        width: view.width
        inset: view.inset
        column: view.column
        onEditAsked: (turn) => view.editAsked(turn)
    }

    FocusRing { parent: view; anchors.margins: 2; shown: view.activeFocus }
    GlyphButton {
        parent: view
        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: 8
        visible: !view.isAtEnd && !view.atYEnd
        glyph: "down"
        text: qsTr("To the end")
        extent: 32
        background: Rectangle { radius: 16; color: Theme.surface; border.width: 1; border.color: Theme.line }
        onClicked: { view.isAtEnd = true; view.toEnd() }
    }
}
