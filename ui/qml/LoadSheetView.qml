import QtQuick
import QtQuick.Layouts
import Quern

// Before loading: choices, the itemized estimate, and whether it fits what is free now.
Sheet {
    id: view
    readonly property var sheet: Session.shelf.sheet
    readonly property var tones: [Theme.accent, Theme.copper, Theme.sequences[2], Theme.sequences[6], Theme.ink2]
    name: qsTr("Load %1").arg(sheet.name)
    contentWidth: Math.round(480 * Theme.textScale)
    contentHeight: Math.min(column.implicitHeight + foot.implicitHeight + 10, parent ? parent.height - 80 : 600)
    visible: sheet.isOpen
    onClosed: sheet.close()

    component Choice: RowLayout {
        property string label: ""
        spacing: 12
        Layout.fillWidth: true
        Words { text: parent.label; color: Theme.ink2; wrapMode: Text.Wrap; Layout.fillWidth: true }
    }

    Page {
        id: flick
        anchors.fill: parent
        anchors.bottomMargin: foot.implicitHeight + 10
        contentHeight: column.implicitHeight
        ColumnLayout {
            id: column
            width: flick.width - (flick.contentHeight > flick.height ? 12 : 0)
            spacing: 10
            RowLayout {
                Layout.fillWidth: true
                Words { text: view.name; font.pixelSize: Theme.title; font.weight: Font.DemiBold; Layout.fillWidth: true; Accessible.role: Accessible.Heading }
                FitChip { fit: view.sheet.fit }
            }
            Choice {
                label: view.sheet.trainedContext > 0 ? qsTr("Context, in tokens (at most %1)").arg(view.sheet.longestContext) : qsTr("Context, in tokens")
                Field {
                    label: qsTr("Context, in tokens")
                    isNumber: true
                    implicitWidth: 110
                    text: String(view.sheet.context)
                    validator: IntValidator { bottom: 1 }
                    onEditingFinished: view.sheet.context = Number(text)
                }
            }
            Choice {
                label: qsTr("KV cache, in MiB (empty: chosen from free memory)")
                Field {
                    label: qsTr("KV cache, in MiB")
                    isNumber: true
                    implicitWidth: 110
                    placeholderText: qsTr("auto")
                    text: view.sheet.kvMebibytes > 0 ? String(view.sheet.kvMebibytes) : ""
                    validator: IntValidator { bottom: 0 }
                    onEditingFinished: view.sheet.kvMebibytes = Number(text)
                }
            }
            Choice {
                label: qsTr("KV cache type")
                Segments {
                    label: parent.label
                    options: [{ key: "f16", text: "f16" }, { key: "f32", text: "f32" }]
                    current: view.sheet.exactCache ? "f32" : "f16"
                    onChosen: (key) => view.sheet.exactCache = key === "f32"
                }
            }
            Choice {
                visible: view.sheet.isQuantized
                label: qsTr("Activations")
                Segments {
                    label: parent.label
                    options: [{ key: "q8", text: "q8" }, { key: "f32", text: "f32" }]
                    current: view.sheet.exactActivations ? "f32" : "q8"
                    onChosen: (key) => view.sheet.exactActivations = key === "f32"
                }
            }
            Rectangle { Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
            Repeater {
                model: view.sheet.items
                RowLayout {
                    required property var modelData
                    required property int index
                    spacing: 8
                    Layout.fillWidth: true
                    Rectangle { implicitWidth: 10; implicitHeight: 10; radius: 2; color: view.tones[parent.index % view.tones.length] }
                    Words { text: parent.modelData.name; Layout.fillWidth: true }
                    Words { text: parent.modelData.bytes; font.family: Theme.mono }
                }
            }
            Rectangle {
                Layout.fillWidth: true
                implicitHeight: 10
                radius: 3
                color: Theme.line
                clip: true
                Row {
                    anchors.fill: parent
                    Repeater {
                        model: view.sheet.items
                        Rectangle {
                            required property var modelData
                            required property int index
                            width: parent.width * modelData.share
                            height: 10
                            color: view.tones[index % view.tones.length]
                        }
                    }
                }
                Rectangle {
                    // Where free memory ends, when the model goes beyond it.
                    visible: view.sheet.fill > 1
                    x: parent.width / Math.max(1, view.sheet.fill) - 1
                    width: 2
                    height: 10
                    color: Theme.danger
                }
            }
            RowLayout {
                Layout.fillWidth: true
                Words { text: qsTr("Total"); font.weight: Font.DemiBold; Layout.fillWidth: true }
                Words { text: view.sheet.total === "" ? "" : qsTr("%1 of %2 free").arg(view.sheet.total).arg(view.sheet.freeNow); font.family: Theme.mono }
            }
            Words { visible: text !== ""; text: view.sheet.holds; color: Theme.ink2; font.pixelSize: Theme.caption; Layout.fillWidth: true }
        }
    }
    // Always in sight: whether it can be loaded, and if not, why.
    ColumnLayout {
        id: foot
        anchors.bottom: parent.bottom
        width: parent.width
        spacing: 10
        Words {
            visible: text !== ""
            text: view.sheet.problem !== "" ? view.sheet.problem : view.sheet.advice
            color: view.sheet.problem !== "" || view.sheet.fit === "tooBig" ? Theme.danger : Theme.warning
            wrapMode: Text.Wrap
            Layout.fillWidth: true
        }
        RowLayout {
            Layout.fillWidth: true
            Layout.topMargin: 8
            spacing: 8
            Item { Layout.fillWidth: true }
            PushButton { text: qsTr("Cancel"); onClicked: view.sheet.close() }
            PushButton {
                text: qsTr("Load")
                primary: true
                focus: true
                enabled: view.sheet.fit !== "" && view.sheet.fit !== "tooBig" && !Session.host.isLoading
                onClicked: view.sheet.confirm()
            }
        }
    }
}
