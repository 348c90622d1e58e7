#pragma once

#include <string>
#include <string_view>

namespace quern::engine::text {

/// The bytes that base 64 spells; what belongs to no digit is passed over.
[[nodiscard]] std::string decodeBase64(std::string_view text);

}  // namespace quern::engine::text
