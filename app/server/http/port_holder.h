#pragma once

#include <cstdint>
#include <string>

namespace quern::app {

/// Who listens on a TCP port of this machine: "quern (process 1234)", or empty when it cannot be
/// told (another user's process). Reads /proc.
[[nodiscard]] std::string portHolder(std::uint16_t port);

}  // namespace quern::app
