#pragma once

#include <map>
#include <vector>

#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// The ends of replies as they were shown, for as long as the store still takes the reply for
/// unfinished: what could not be saved stays in sight. GUI thread.
class ShownEnds {
public:
    void keep(const Turn& turn) { m_ended[turn.id] = turn; }
    /// Puts them into a path that was read from the store.
    void putInto(std::vector<Turn>& path) {
        for (Turn& turn : path) {
            const auto ended = m_ended.find(turn.id);
            if (ended == m_ended.end()) {
                continue;
            }
            if (turn.state != TurnState::kWriting) {
                m_ended.erase(ended);  // saved
                continue;
            }
            ended->second.branch = turn.branch;
            ended->second.branches = turn.branches;
            turn = ended->second;
        }
    }

private:
    std::map<std::int64_t, Turn> m_ended;
};

}  // namespace quern::ui
