#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace quern::engine::jinja {

/// strftime with the names of the C locale, whatever the process's locale is: a prompt must not
/// change with the user's language. Directives it does not know stay as they are.
[[nodiscard]] std::string formatTime(std::string_view format, const std::tm& time);

}  // namespace quern::engine::jinja
