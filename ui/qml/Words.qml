import QtQuick
import Quern

// Text as the window writes it: plain, in ink, of body size, read out as it stands.
Text {
    color: Theme.ink
    font.family: Theme.sans
    font.pixelSize: Theme.small
    textFormat: Text.PlainText
    verticalAlignment: Text.AlignVCenter
    elide: Text.ElideRight
    Accessible.role: Accessible.StaticText
    Accessible.name: text
}
