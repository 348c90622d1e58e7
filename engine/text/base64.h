#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quern::engine::text {

/// The bytes that base 64 spells (RFC 4648, padded). Absent where it spells none: a character that
/// is no digit, or a length or padding that does not come out.
[[nodiscard]] std::optional<std::string> decodeBase64(std::string_view text);

}  // namespace quern::engine::text
