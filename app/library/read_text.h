#pragma once

#include <filesystem>
#include <string>

namespace quern::app {

/// The bytes of a small file; empty where there is none, or it cannot be read.
[[nodiscard]] std::string readText(const std::filesystem::path& path);

}  // namespace quern::app
