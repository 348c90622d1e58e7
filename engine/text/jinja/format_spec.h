#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// Python's format specification: [[fill]align][sign][#][0][width][grouping][.precision][type].
struct FormatSpec {
    char32_t fill = U' ';
    char align = '\0';  // < > ^ =, or none given
    char sign = '-';    // + - or space
    bool alternate = false;
    std::int64_t width = 0;
    char grouping = '\0';  // , or _
    std::optional<int> precision;
    char type = '\0';
    int minDigits = 0;  // of integers: the precision of %d
};

/// Raises ValueError for what is no specification, or one beyond all reason.
[[nodiscard]] FormatSpec parseFormatSpec(std::string_view spec);

/// Raise ValueError when the type does not fit the value.
[[nodiscard]] std::string formatInteger(std::int64_t value, const FormatSpec& spec);
[[nodiscard]] std::string formatFloat(double value, const FormatSpec& spec);
[[nodiscard]] std::string formatText(std::string_view text, const FormatSpec& spec);

/// Python's format(value, spec).
[[nodiscard]] std::string formatValue(const Value& value, std::string_view spec);

}  // namespace quern::engine::jinja
