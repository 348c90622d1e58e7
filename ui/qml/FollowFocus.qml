import QtQuick
import Quern

// Keeps in sight whatever has the keys inside a view that scrolls.
QtObject {
    required property Flickable view
    property int covered: 0  // at the top, by a header that lies over the rows
    readonly property Item focused: view.Window.activeFocusItem
    onFocusedChanged: {
        let above = focused
        while (above && above !== view.contentItem)
            above = above.parent
        if (!above)
            return
        const room = 12
        const top = focused.mapToItem(view.contentItem, 0, 0).y - room
        const below = top + focused.height + 2 * room
        if (top < view.contentY + covered)
            scrollTo(top - covered)
        else if (below > view.contentY + view.height)
            scrollTo(below - view.height)
    }
    // As far as the content goes.
    function scrollTo(y) {
        const last = view.originY + view.contentHeight + view.bottomMargin - view.height
        view.contentY = Math.max(view.originY, Math.min(last, y))
    }
}
