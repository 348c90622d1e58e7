#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "kernels/result.h"

namespace quern::cli {

/// No text that is given to a command is longer: what never ends (/dev/zero) is refused, not
/// gathered until the memory is full.
inline constexpr std::size_t kMostInputBytes = std::size_t{256} << 20;

/// All of standard input, byte for byte. kIo when it cannot be read, kInvalidArgument when it is
/// longer than `most`.
[[nodiscard]] Result<std::string> readStandardInput(std::size_t most = kMostInputBytes);

/// All of a file that the command line names; a pipe is read to its end. kInvalidArgument when it
/// is not there, a folder, or longer than `most`; kIo when the system refuses it.
[[nodiscard]] Result<std::string> readInputFile(const std::filesystem::path& file,
                                                std::size_t most = kMostInputBytes);

}  // namespace quern::cli
