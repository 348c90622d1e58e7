import QtQuick
import QtQuick.Layouts
import Quern

Card {
    id: card
    readonly property var monitor: Session.monitor
    readonly property bool isNarrow: width > 0 && width < 700 * Theme.textScale
    property bool isBySequence: false
    readonly property bool isKnown: monitor.cacheStory !== ""

    component Key: RowLayout {
        property color tone
        property string label
        property bool dotted: false
        spacing: 6
        Rectangle {
            implicitWidth: 10
            implicitHeight: 10
            radius: 2
            color: parent.tone
            Rectangle { visible: parent.parent.dotted; anchors.centerIn: parent; width: 2; height: 2; color: Theme.surface }
        }
        Words { text: parent.label; font.pixelSize: Theme.caption; color: Theme.ink2 }
    }

    component Legend: Row {
        spacing: 10
        Key { tone: Theme.ink; label: qsTr("shared"); dotted: true }
        Key { tone: Theme.sequences[0]; label: qsTr("sequence") }
        Key { tone: Theme.mix(Theme.sequences[0], Theme.surface, 0.3); label: qsTr("cached, evictable") }
        Key { tone: Theme.line; label: qsTr("free") }
    }

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: 15
        spacing: 10
        RowLayout {
            Layout.fillWidth: true
            spacing: 10
            Words { text: qsTr("KV cache"); font.pixelSize: Theme.body; font.weight: Font.DemiBold; Accessible.role: Accessible.Heading }
            Words { text: card.monitor.cacheStory; color: Theme.ink2; visible: !card.isNarrow; Layout.fillWidth: true }
            Item { visible: card.isNarrow; Layout.fillWidth: true }
            Segments {
                visible: card.monitor.groups.length > 1
                label: qsTr("Block group")
                current: String(card.monitor.group)
                options: card.monitor.groups.map((name, i) => ({ key: String(i), text: name }))
                onChosen: (key) => card.monitor.group = Number(key)
            }
            Segments {
                visible: card.isKnown
                label: qsTr("Order of the blocks")
                current: card.isBySequence ? "sequence" : "place"
                options: [{ key: "place", text: qsTr("By place") }, { key: "sequence", text: qsTr("By sequence") }]
                onChosen: (key) => card.isBySequence = key === "sequence"
            }
            Legend { visible: !card.isNarrow }
        }
        Words { text: card.monitor.cacheStory; color: Theme.ink2; font.pixelSize: Theme.caption; visible: card.isNarrow && card.isKnown; Layout.fillWidth: true }
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true
            KvMapItem {
                id: map
                anchors.fill: parent
                monitor: card.monitor
                modelName: card.monitor.modelName
                group: card.monitor.group
                bySequence: card.isBySequence
                visible: card.isKnown
                activeFocusOnTab: true
                Accessible.role: Accessible.Graphic
                Accessible.name: qsTr("Map of the KV cache")
                Accessible.description: map.cellStory !== "" ? map.cellStory : card.monitor.cacheStory
                Keys.onLeftPressed: step(-1, 0)
                Keys.onRightPressed: step(1, 0)
                Keys.onUpPressed: step(0, -1)
                Keys.onDownPressed: step(0, 1)
                HoverHandler {
                    onPointChanged: map.pointAt(point.position.x, point.position.y)
                    onHoveredChanged: if (!hovered) map.pointAway()
                }
                FocusRing { shown: map.activeFocus }
                Rectangle {
                    visible: map.cellStory !== ""
                    x: map.cellRect.x - 2
                    y: map.cellRect.y - 2
                    width: map.cellRect.width + 4
                    height: map.cellRect.height + 4
                    color: Theme.none
                    border.width: 1
                    border.color: Theme.ink
                }
                Rectangle {
                    visible: map.cellStory !== ""
                    x: Math.max(0, Math.min(map.width - width, map.cellRect.x - width / 2))
                    y: map.cellRect.y > height + 12 ? map.cellRect.y - height - 8 : map.cellRect.y + map.cellRect.height + 8
                    width: story.implicitWidth + 16
                    height: story.implicitHeight + 10
                    radius: 4
                    color: Theme.ink
                    Words { id: story; anchors.centerIn: parent; text: map.cellStory; color: Theme.canvas; font.pixelSize: Theme.caption; Accessible.ignored: true }
                }
            }
            Words {
                anchors.centerIn: parent
                visible: !card.isKnown
                text: qsTr("The cache of a loaded model is drawn here, block by block.")
                color: Theme.ink2
            }
        }
        Legend { visible: card.isNarrow; Layout.fillWidth: true }
    }
}
