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
};

/// Called a few times a second on the transferring thread; returning false cancels (kCancelled).
using TransferObserver = std::function<bool(const TransferProgress&)>;

}  // namespace quern::app
