#pragma once

#include <filesystem>
#include <string>

#include "app/library/transfer.h"
#include "kernels/result.h"

namespace quern::app {

/// SHA-256 of a file, 64 lower-case hexadecimal digits.
[[nodiscard]] Result<std::string> sha256OfFile(const std::filesystem::path& file,
                                               const TransferObserver& observer = {});

}  // namespace quern::app
