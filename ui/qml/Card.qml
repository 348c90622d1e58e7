import QtQuick
import Quern

Rectangle {
    color: Theme.surface
    border.width: 1
    border.color: Theme.line
    radius: 8
}
