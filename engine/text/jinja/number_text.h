#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quern::engine::jinja {

/// Python's repr of a float: the shortest digits that read back, "1.0", "1e-05", "inf", "nan".
[[nodiscard]] std::string floatRepr(double value);

/// Python's int(text, base): white space around, sign, underscores between digits, prefix for base
/// 0 or the base's own. Absent when the text is no integer; raises OverflowError beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> parseInteger(std::string_view text, int base);

/// Python's float(text).
[[nodiscard]] std::optional<double> parseFloat(std::string_view text);

/// Correctly rounded, half to even on the exact binary value, as Python's round(value, digits).
[[nodiscard]] double roundTo(double value, std::int64_t digits);

/// The integral part as an integer; raises OverflowError or ValueError where there is none.
[[nodiscard]] std::int64_t truncate(double value);

}  // namespace quern::engine::jinja
