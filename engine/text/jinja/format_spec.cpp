#include "engine/text/jinja/format_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

constexpr std::int64_t kMaxWidth = 1'000'000;
constexpr std::int64_t kMaxPrecision = 1000;

bool isAlign(char32_t c) {
    return c == U'<' || c == U'>' || c == U'^' || c == U'=';
}

/// Pads a whole to the width. `defaultAlign` stands where the specification has none.
std::string pad(std::string_view text, const FormatSpec& spec, char defaultAlign) {
    const auto length = static_cast<std::int64_t>(countCodePoints(text));
    const std::int64_t missing = std::max<std::int64_t>(spec.width - length, 0);
    const char align = spec.align == '\0' ? defaultAlign : spec.align;
    const std::int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    std::string out;
    for (std::int64_t i = 0; i < left; ++i) {
        text::appendUtf8(out, spec.fill);
    }
    out += text;
    for (std::int64_t i = left; i < missing; ++i) {
        text::appendUtf8(out, spec.fill);
    }
    return out;
}

std::string group(std::string_view digits, char separator, std::size_t size) {
    if (separator == '\0') {
        return std::string(digits);
    }
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % size == 0) {
            out += separator;
        }
        out += digits[i];
    }
    return out;
}

/// Puts a number together: sign and prefix, digits grouped, the part behind them.
std::string assemble(std::string_view prefix, std::string digits, std::string_view tail,
                     const FormatSpec& spec, std::size_t groupSize) {
    std::string grouped = group(digits, spec.grouping, groupSize);
    const auto fixed = static_cast<std::int64_t>(prefix.size() + tail.size());
    if (spec.align != '=') {
        return pad(std::string(prefix) + grouped + std::string(tail), spec, '>');
    }
    if (spec.fill == U'0') {
        while (fixed + static_cast<std::int64_t>(grouped.size()) < spec.width) {
            digits.insert(digits.begin(), '0');
            grouped = group(digits, spec.grouping, groupSize);
        }
        return std::string(prefix) + grouped + std::string(tail);
    }
    FormatSpec inner = spec;
    inner.align = '>';
    inner.width = spec.width - static_cast<std::int64_t>(prefix.size());
    return std::string(prefix) + pad(grouped + std::string(tail), inner, '>');
}

std::string signPrefix(bool isNegative, char sign) {
    if (isNegative) {
        return "-";
    }
    return sign == '-' ? "" : std::string(1, sign);
}

std::string digitsOf(std::uint64_t magnitude, unsigned base, bool isUpper) {
    const char* letters = isUpper ? "0123456789ABCDEF" : "0123456789abcdef";
    std::string out;
    do {
        out += letters[magnitude % base];
        magnitude /= base;
    } while (magnitude != 0);
    std::reverse(out.begin(), out.end());
    return out;
}

[[noreturn]] void raiseUnknown(char type, std::string_view name) {
    raiseValue("Unknown format code '" + std::string(1, type) + "' for object of type '" +
               std::string(name) + "'");
}

std::string printed(const char* format, int precision, double value) {
    std::array<char, 1500> buffer{};
    const int size = std::snprintf(buffer.data(), buffer.size(), format, precision, value);
    return {buffer.data(), static_cast<std::size_t>(std::max(size, 0))};
}

/// The digits of a non-negative finite number in the form that `type` asks for.
std::string floatDigits(double value, const FormatSpec& spec) {
    const int precision = spec.precision.value_or(6);
    switch (spec.type) {
        case 'f':
        case 'F':
        case '%':
            return printed(spec.alternate ? "%#.*f" : "%.*f", precision, value);
        case 'e':
            return printed(spec.alternate ? "%#.*e" : "%.*e", precision, value);
        case 'E':
            return printed(spec.alternate ? "%#.*E" : "%.*E", precision, value);
        case 'G':
            return printed(spec.alternate ? "%#.*G" : "%.*G", precision, value);
        case '\0': {
            if (!spec.precision) {
                return floatRepr(value);
            }
            std::string digits = printed("%.*g", std::max(precision, 1), value);
            if (digits.find_first_of(".e") == std::string::npos) {
                // One digit more than asked for would be too many: then the exponent shows.
                if (static_cast<int>(digits.size()) < std::max(precision, 1)) {
                    digits += ".0";
                } else {
                    const int shown = std::max(precision, 1) - 1;
                    digits = printed("%.*e", shown, value);
                    const std::size_t e = digits.find('e');
                    std::size_t end = e;
                    while (digits.find('.') < end && digits[end - 1] == '0') {
                        --end;
                    }
                    end -= digits[end - 1] == '.' ? 1U : 0U;
                    digits.erase(end, e - end);
                }
            }
            return digits;
        }
        default:
            return printed(spec.alternate ? "%#.*g" : "%.*g", precision, value);
    }
}

}  // namespace

FormatSpec parseFormatSpec(std::string_view text) {
    const std::u32string points = toCodePoints(text);
    FormatSpec spec;
    std::size_t at = 0;
    const auto peek = [&points](std::size_t index) {
        return index < points.size() ? points[index] : U'\0';
    };
    bool hasFill = false;
    if (points.size() > 1 && isAlign(points[1])) {
        spec.fill = points[0];
        spec.align = static_cast<char>(points[1]);
        hasFill = true;
        at = 2;
    } else if (isAlign(peek(0))) {
        spec.align = static_cast<char>(points[0]);
        at = 1;
    }
    if (peek(at) == U'+' || peek(at) == U'-' || peek(at) == U' ') {
        spec.sign = static_cast<char>(points[at++]);
    }
    if (peek(at) == U'z') {
        ++at;
    }
    if (peek(at) == U'#') {
        spec.alternate = true;
        ++at;
    }
    if (peek(at) == U'0' && !hasFill) {
        spec.fill = U'0';
        spec.align = spec.align == '\0' ? '=' : spec.align;
        ++at;
    }
    const auto number = [&](std::int64_t limit, const char* what) {
        std::int64_t value = 0;
        while (peek(at) >= U'0' && peek(at) <= U'9') {
            value = value * 10 + static_cast<std::int64_t>(points[at++] - U'0');
            if (value > limit) {
                raiseValue(std::string(what) + " too big");
            }
        }
        return value;
    };
    spec.width = number(kMaxWidth, "width");
    if (peek(at) == U',' || peek(at) == U'_') {
        spec.grouping = static_cast<char>(points[at++]);
    }
    if (peek(at) == U'.') {
        ++at;
        if (peek(at) < U'0' || peek(at) > U'9') {
            raiseValue("Format specifier missing precision");
        }
        spec.precision = static_cast<int>(number(kMaxPrecision, "precision"));
    }
    if (at + 1 < points.size()) {
        raiseValue("Invalid format specifier");
    }
    if (at < points.size()) {
        if (points[at] >= 0x80) {
            raiseValue("Unknown format code");
        }
        spec.type = static_cast<char>(points[at]);
    }
    return spec;
}

std::string formatInteger(std::int64_t value, const FormatSpec& spec) {
    const auto magnitude =
        value < 0 ? 0U - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    std::string prefix = signPrefix(value < 0, spec.sign);
    const auto build = [&](unsigned base, bool isUpper, const char* mark) {
        std::string digits = digitsOf(magnitude, base, isUpper);
        if (static_cast<int>(digits.size()) < spec.minDigits) {
            digits.insert(0, static_cast<std::size_t>(spec.minDigits) - digits.size(), '0');
        }
        prefix += spec.alternate ? mark : "";
        return assemble(prefix, std::move(digits), "", spec, base == 10 ? 3 : 4);
    };
    if (spec.type != '\0' &&
        std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos) {
        return formatFloat(static_cast<double>(value), spec);
    }
    if (spec.precision) {
        raiseValue("Precision not allowed in integer format specifier");
    }
    switch (spec.type) {
        case '\0':
        case 'd':
        case 'n':
            return build(10, false, "");
        case 'x':
            return build(16, false, "0x");
        case 'X':
            return build(16, true, "0X");
        case 'o':
            return build(8, false, "0o");
        case 'b':
            return build(2, false, "0b");
        case 'c': {
            if (value < 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
                raise("OverflowError", "%c arg not in range(0x110000)");
            }
            std::string character;
            text::appendUtf8(character, static_cast<char32_t>(value));
            return pad(character, spec, '<');
        }
        default:
            raiseUnknown(spec.type, "int");
    }
}

std::string formatFloat(double value, const FormatSpec& spec) {
    if (spec.type != '\0' &&
        std::string_view("eEfFgGn%").find(spec.type) == std::string_view::npos) {
        raiseUnknown(spec.type, "float");
    }
    const std::string prefix = signPrefix(std::signbit(value) && !std::isnan(value), spec.sign);
    const double shown = std::fabs(spec.type == '%' ? value * 100.0 : value);
    const bool isUpper = spec.type == 'E' || spec.type == 'F' || spec.type == 'G';
    const std::string percent = spec.type == '%' ? "%" : "";
    if (!std::isfinite(shown)) {
        const char* name =
            std::isnan(shown) ? (isUpper ? "NAN" : "nan") : (isUpper ? "INF" : "inf");
        FormatSpec plain = spec;
        plain.grouping = '\0';
        return assemble(prefix, name, percent, plain, 3);
    }
    const std::string digits = floatDigits(shown, spec);
    const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
    return assemble(prefix, digits.substr(0, whole), digits.substr(whole) + percent, spec, 3);
}

std::string formatText(std::string_view text, const FormatSpec& spec) {
    if (spec.type != '\0' && spec.type != 's') {
        raiseUnknown(spec.type, "str");
    }
    if (spec.sign != '-') {
        raiseValue("Sign not allowed in string format specifier");
    }
    if (spec.alternate) {
        raiseValue("Alternate form (#) not allowed in string format specifier");
    }
    if (spec.align == '=') {
        raiseValue("'=' alignment not allowed in string format specifier");
    }
    if (spec.grouping != '\0') {
        raiseValue(std::string("Cannot specify '") + spec.grouping + "' with 's'.");
    }
    if (spec.precision) {
        text = text.substr(0, byteOffset(text, static_cast<std::size_t>(*spec.precision)));
    }
    return pad(text, spec, '<');
}

std::string formatValue(const Value& value, std::string_view spec) {
    if (spec.empty()) {
        return toText(value);
    }
    switch (value.kind()) {
        case Kind::kBool:
        case Kind::kInt: {
            FormatSpec parsed = parseFormatSpec(spec);
            return formatInteger(integerOf(value), parsed);
        }
        case Kind::kFloat:
            return formatFloat(value.number(), parseFormatSpec(spec));
        case Kind::kText: {
            FormatSpec parsed = parseFormatSpec(spec);
            // A zero before the width only fills where text is concerned.
            if (parsed.align == '=' && parsed.fill == U'0' &&
                spec.find('=') == std::string_view::npos) {
                parsed.align = '<';
            }
            return formatText(value.text(), parsed);
        }
        default:
            raiseType("unsupported format string passed to " + typeName(value) + ".__format__");
    }
}

}  // namespace quern::engine::jinja
