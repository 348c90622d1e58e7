import QtQuick
import QtQuick.Templates as T
import Quern

// What may be taller than its place. Scrolls by keyboard too.
Flickable {
    id: page
    contentWidth: width
    clip: true
    boundsBehavior: Flickable.StopAtBounds
    T.ScrollBar.vertical: SlimBar {}
    FollowFocus { id: follow; view: page }

    Keys.onUpPressed: follow.scrollTo(contentY - 48)
    Keys.onDownPressed: follow.scrollTo(contentY + 48)
    Keys.onPressed: (event) => {
        event.accepted = true
        if (event.key === Qt.Key_PageUp)
            follow.scrollTo(contentY - 0.9 * height)
        else if (event.key === Qt.Key_PageDown)
            follow.scrollTo(contentY + 0.9 * height)
        else if (event.key === Qt.Key_Home)
            follow.scrollTo(0)
        else if (event.key === Qt.Key_End)
            follow.scrollTo(contentHeight)
        else
            event.accepted = false
    }
}
