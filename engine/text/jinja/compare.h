#pragma once

#include <compare>
#include <cstddef>
#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// Python's ==. Nesting beyond a fixed depth raises RecursionError.
[[nodiscard]] bool isEqual(const Value& a, const Value& b);

/// Python's ordering; `symbol` is the operator for the TypeError of values that have no order.
/// NaN is unordered.
[[nodiscard]] std::partial_ordering order(const Value& a, const Value& b, std::string_view symbol);
[[nodiscard]] bool isLess(const Value& a, const Value& b);

/// Equal values hash alike (1, 1.0 and True too). Throws TypeError for lists and dicts.
[[nodiscard]] std::size_t hashOf(const Value& value);
[[nodiscard]] std::size_t hashOf(std::string_view text);

}  // namespace quern::engine::jinja
