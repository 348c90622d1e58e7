#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/formats/gguf.h"

namespace quern::engine {

/// What one GGUF file says. Views point into the bytes it was parsed from.
struct ParsedGguf {
    std::uint32_t version = 0;
    GgufMetadata metadata;
    std::vector<GgufTensor> tensors;
};

/// Checks and reads the bytes of one file; errors as GgufFile::open, without the file's name.
[[nodiscard]] Result<ParsedGguf> parseGguf(std::span<const std::byte> bytes);

}  // namespace quern::engine
