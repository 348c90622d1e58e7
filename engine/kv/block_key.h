#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/text.h"

namespace quern::engine {

/// Names the content of a full block and of all that came before it: 128 bits, so that two
/// different prefixes never share one in practice. A hit compares the block's 16 ids as well.
struct BlockKey {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(const BlockKey&) const = default;
};

/// The key before a sequence's first block. Sequences share blocks only when both are equal.
[[nodiscard]] BlockKey rootKey(std::string_view salt, std::string_view adapter);

/// The key of the block that follows `parent`. tokens [kBlockTokens]
[[nodiscard]] BlockKey childKey(const BlockKey& parent, std::span<const TokenId> tokens);

}  // namespace quern::engine
