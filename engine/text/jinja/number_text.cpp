#include "engine/text/jinja/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

/// ASCII form of a number's text: outer space gone, digits of other scripts turned into ASCII,
/// underscores between digits dropped. Absent when an underscore stands elsewhere.
std::optional<std::string> plainDigits(std::string_view text) {
    const std::u32string points = toCodePoints(strip(text, Ends::kBoth));
    std::string out;
    const auto isWord = [](char32_t c) {
        return (c < 0x80 && std::isalnum(static_cast<int>(c)) != 0) || digitValue(c) >= 0;
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
        const char32_t c = points[i];
        if (c == U'_') {
            const bool isBetween =
                i > 0 && i + 1 < points.size() && isWord(points[i - 1]) && isWord(points[i + 1]);
            if (!isBetween) {
                return std::nullopt;
            }
        } else if (const int digit = digitValue(c); digit >= 0) {
            out += static_cast<char>('0' + digit);
        } else if (c < 0x80) {
            out += static_cast<char>(c);
        } else {
            return std::nullopt;
        }
    }
    return out;
}

int prefixBase(std::string_view digits) {
    if (digits.size() < 2 || digits[0] != '0') {
        return 0;
    }
    switch (digits[1]) {
        case 'x':
        case 'X':
            return 16;
        case 'o':
        case 'O':
            return 8;
        case 'b':
        case 'B':
            return 2;
        default:
            return 0;
    }
}

}  // namespace

std::string floatRepr(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::scientific)
                         .ptr;
    const std::string_view shortest(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const std::size_t e = shortest.find('e');
    std::string digits;
    std::string sign;
    for (const char c : shortest.substr(0, e)) {
        if (c == '-') {
            sign = "-";
        } else if (c != '.') {
            digits += c;
        }
    }
    int exponent = 0;
    const char* from = shortest.data() + e + 1;
    std::from_chars(*from == '+' ? from + 1 : from, end, exponent);
    const int count = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16) {
        std::string out = sign + digits.substr(0, 1);
        if (count > 1) {
            out += "." + digits.substr(1);
        }
        const int magnitude = std::abs(exponent);
        return out + (exponent < 0 ? "e-" : "e+") + (magnitude < 10 ? "0" : "") +
               std::to_string(magnitude);
    }
    if (exponent < 0) {
        return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    }
    const auto whole = static_cast<std::size_t>(exponent + 1);
    if (digits.size() <= whole) {
        return sign + digits + std::string(whole - digits.size(), '0') + ".0";
    }
    return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::optional<std::int64_t> parseInteger(std::string_view text, int base) {
    if (base != 0 && (base < 2 || base > 36)) {
        raiseValue("int() base must be >= 2 and <= 36, or 0");
    }
    const std::optional<std::string> plain = plainDigits(text);
    if (!plain) {
        return std::nullopt;
    }
    std::string_view digits = *plain;
    bool isNegative = false;
    if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) {
        isNegative = digits[0] == '-';
        digits.remove_prefix(1);
    }
    const int prefix = prefixBase(digits);
    if (prefix != 0 && (base == 0 || base == prefix)) {
        digits.remove_prefix(2);
        base = prefix;
    } else if (base == 0) {
        if (digits.size() > 1 && digits[0] == '0' &&
            digits.find_first_not_of('0') != std::string_view::npos) {
            return std::nullopt;
        }
        base = 10;
    }
    if (digits.empty()) {
        return std::nullopt;
    }
    std::uint64_t magnitude = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
    if (end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    const std::uint64_t limit = (std::uint64_t{1} << 63U) - (isNegative ? 0U : 1U);
    if (error == std::errc::result_out_of_range || magnitude > limit) {
        raise("OverflowError", "integers beyond 64 bits are not computed with");
    }
    return static_cast<std::int64_t>(isNegative ? 0U - magnitude : magnitude);
}

std::optional<double> parseFloat(std::string_view text) {
    const std::optional<std::string> plain = plainDigits(text);
    if (!plain) {
        return std::nullopt;
    }
    std::string_view digits = *plain;
    if (!digits.empty() && digits[0] == '+') {
        digits.remove_prefix(1);
        if (!digits.empty() && digits[0] == '-') {
            return std::nullopt;
        }
    }
    if (digits.empty() || digits.find_first_of("()") != std::string_view::npos) {
        return std::nullopt;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    if (error == std::errc::result_out_of_range) {
        // from_chars leaves the value alone here; strtod tells overflow from underflow.
        value = std::strtod(std::string(digits).c_str(), nullptr);
    }
    return value;
}

double roundTo(double value, std::int64_t digits) {
    if (!std::isfinite(value) || digits > 323) {
        return value;
    }
    if (digits < -308) {
        return std::copysign(0.0, value);
    }
    if (digits >= 0) {
        std::array<char, 700> buffer{};
        std::snprintf(buffer.data(), buffer.size(), "%.*f", static_cast<int>(digits), value);
        return std::strtod(buffer.data(), nullptr);
    }
    const double scale = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / scale) * scale;
}

std::int64_t truncate(double value) {
    if (std::isnan(value)) {
        raiseValue("cannot convert float NaN to integer");
    }
    if (std::isinf(value)) {
        raise("OverflowError", "cannot convert float infinity to integer");
    }
    if (value >= 9223372036854775808.0 || value < -9223372036854775808.0) {
        raise("OverflowError", "integers beyond 64 bits are not computed with");
    }
    return static_cast<std::int64_t>(value);
}

}  // namespace quern::engine::jinja
