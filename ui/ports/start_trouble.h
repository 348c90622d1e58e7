#pragma once

#include <cstdint>
#include <string>

namespace quern::ui {

/// A file that could not be used as it is at the start, and what was done instead.
struct StartTrouble {
    enum class File : std::uint8_t { kConversations, kSettings };
    enum class Outcome : std::uint8_t {
        kSetAside,  // it is called `kept` now, and a new one was begun
        kReadOnly,  // what it holds is shown; changes last as long as the window
        kUnread,    // nothing of it is shown; changes last as long as the window
    };
    File file = File::kConversations;
    Outcome outcome = Outcome::kUnread;
    std::string kept;
    std::string reason;  // names the file
};

}  // namespace quern::ui
