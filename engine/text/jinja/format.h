#pragma once

#include <string>
#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// Python's `text % arguments`. Raises TypeError and ValueError as it does.
[[nodiscard]] std::string formatPercent(Interpreter& interpreter, const Value& format,
                                        const Value& arguments);

/// Python's format.format(*positional, **named). Fields reach attributes and items as the
/// language's own expressions do.
[[nodiscard]] std::string formatBraces(Interpreter& interpreter, std::string_view format,
                                       const Arguments& arguments);

}  // namespace quern::engine::jinja
