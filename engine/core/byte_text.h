#pragma once

#include <cstdint>
#include <string>

namespace quern::engine {

/// Bytes for people: "1.4 GiB", "512 MiB", "900 B".
[[nodiscard]] std::string byteText(std::int64_t bytes);

}  // namespace quern::engine
