import QtQuick
import QtQuick.Layouts
import Quern

// What is loaded, the memory it takes, and how fast it writes now.
ColumnLayout {
    id: card
    readonly property var feed: Session.feed
    spacing: 4
    Accessible.role: Accessible.Grouping
    Accessible.name: title.text
    Accessible.description: feed.memoryStory

    Words {
        id: title
        text: Session.host.isLoading ? qsTr("Loading %1").arg(Session.host.loadingName)
              : Session.host.hasModel ? Session.host.currentTitle : qsTr("No model loaded")
        font.weight: Font.DemiBold
        wrapMode: Text.Wrap
        maximumLineCount: 2
        Layout.fillWidth: true
    }
    RowLayout {
        spacing: 4
        Layout.fillWidth: true
        Words {
            text: card.feed.device === "" ? card.feed.memoryText
                                          : card.feed.device + " · " + card.feed.memoryText
            font.pixelSize: Theme.caption
            color: Theme.ink2
            Layout.fillWidth: true
        }
    }
    Words {
        visible: card.feed.rateText !== ""
        text: card.feed.rateText
        font.pixelSize: Theme.caption
        font.family: Theme.mono
        color: Theme.accent
        Layout.fillWidth: true
    }
    Item {
        implicitHeight: 6
        Layout.fillWidth: true
        HoverHandler { id: hover }
        Hint { shown: hover.hovered; text: card.feed.memoryStory; y: -height - 6 }
        Rectangle { anchors.fill: parent; radius: 3; color: Theme.line }
        Rectangle {
            visible: Session.host.isLoading
            width: parent.width * Session.host.loadFraction
            height: parent.height
            radius: 3
            color: Theme.accent
        }
        Row {
            visible: !Session.host.isLoading
            anchors.fill: parent
            Rectangle { width: parent.width * card.feed.weightShare; height: 6; radius: 3; color: Theme.accent }
            Rectangle { width: parent.width * card.feed.kvShare; height: 6; color: Theme.copper }
            Rectangle { width: parent.width * card.feed.otherShare; height: 6; radius: 3; color: Theme.mix(Theme.ink2, Theme.line, 0.45) }
        }
    }
}
