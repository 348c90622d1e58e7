#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace quern::app {

/// How far a transfer is. `totalBytes` is 0 while it is not known.
struct TransferProgress {
    std::string stage;  // "downloading", "unpacking", "checking"
    std::int64_t doneBytes = 0;
    std::int64_t totalBytes = 0;
    std::string note = {};    // a sentence to be told once: what was found and is done about it
    std::string detail = {};  // what a program that helps (pip) wrote since the last call
};

/// Called a few times a second on the transferring thread; returning false cancels (kCancelled).
using TransferObserver = std::function<bool(const TransferProgress&)>;

}  // namespace quern::app
