#pragma once

#include <cstdint>

namespace quern::engine {

/// Bytes of this process that are in memory now; 0 where the system does not tell. Any thread.
[[nodiscard]] std::int64_t residentBytes();

}  // namespace quern::engine
