#pragma once

#include <string>
#include <string_view>

namespace quern::app {

/// The first words of a message, as a conversation's name: on one line, of at most 48 characters.
/// `message` is UTF-8.
[[nodiscard]] std::string titleFrom(std::string_view message);

}  // namespace quern::app
