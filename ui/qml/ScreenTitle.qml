import QtQuick
import Quern

Words {
    font.pixelSize: Theme.heading
    font.weight: Font.DemiBold
    Accessible.role: Accessible.Heading
}
