#pragma once

#include <cstddef>
#include <string>

namespace quern::app {

/// A prefix and hexadecimal digits from the system's random source: "call_5f0c…".
[[nodiscard]] std::string randomId(const char* prefix, std::size_t digits = 32);

}  // namespace quern::app
