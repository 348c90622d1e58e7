// Filters to and about numbers.
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/text/jinja/attribute_path.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {
namespace {

Value absolute(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("abs", arguments, {});
    if (input.is(Kind::kFloat)) {
        return Value(std::fabs(input.number()));
    }
    if (!isInteger(input)) {
        raiseType("bad operand type for abs(): '" + typeName(input) + "'");
    }
    return integerOf(input) < 0 ? signedValue(true, input) : Value(integerOf(input));
}

/// float(value); absent where Python raises TypeError or ValueError.
std::optional<double> asFloat(const Value& value) {
    raiseIfUndefined(value);
    if (isNumber(value)) {
        return doubleOf(value);
    }
    if (value.is(Kind::kBigInt)) {
        return parseFloat(value.as<BigInt>().digits);
    }
    return value.isText() ? parseFloat(value.text()) : std::nullopt;
}

Value toInt(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("int", arguments, {"default", "base"});
    raiseIfUndefined(input);
    const Value fallback = given.has(0) ? given[0] : Value(std::int64_t{0});
    if (isInteger(input)) {
        return Value(integerOf(input));
    }
    if (input.is(Kind::kBigInt)) {
        return input;
    }
    const std::int64_t base = given.integer(1, 10);
    if (input.isText() && (base == 0 || (base >= 2 && base <= 36))) {
        if (const auto value = parseInteger(input.text(), static_cast<int>(base))) {
            return Value(*value);
        }
    }
    const std::optional<double> value = asFloat(input);
    return value && std::isfinite(*value) ? Value(truncate(*value)) : fallback;
}

Value toFloat(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("float", arguments, {"default"});
    if (const auto value = asFloat(input)) {
        return Value(*value);
    }
    return given.has(0) ? given[0] : Value(0.0);
}

/// Python's round(integer, negative digits): half to even.
std::int64_t roundInteger(std::int64_t value, std::int64_t digits) {
    if (digits < -18) {
        return 0;
    }
    std::int64_t scale = 1;
    for (std::int64_t i = digits; i < 0; ++i) {
        scale *= 10;
    }
    std::int64_t rest = value % scale;
    rest = rest < 0 ? rest + scale : rest;
    // Counted down first, so that nothing overflows on the way.
    const std::int64_t twice = rest - (scale - rest);
    std::int64_t down = 0;
    if (__builtin_sub_overflow(value, rest, &down)) {
        raise("OverflowError", "integers beyond 64 bits are not computed with");
    }
    const bool goesUp = twice > 0 || (twice == 0 && (down / scale) % 2 != 0);
    if (goesUp && __builtin_add_overflow(down, scale, &down)) {
        raise("OverflowError", "integers beyond 64 bits are not computed with");
    }
    return down;
}

Value roundFilter(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("round", arguments, {"precision", "method"});
    const std::string_view method = given.text(1, "common");
    if (method != "common" && method != "ceil" && method != "floor") {
        raise("FilterArgumentError", "method must be common, ceil or floor");
    }
    if (method == "common") {
        if (!isNumber(input)) {
            raiseType("type " + typeName(input) + " doesn't define __round__ method");
        }
        const bool wantsInteger = given.has(0) && given[0].isNone();
        const std::int64_t digits = wantsInteger ? 0 : given.integer(0, 0);
        if (input.is(Kind::kFloat)) {
            const double rounded = roundTo(input.number(), digits);
            return wantsInteger ? Value(truncate(rounded)) : Value(rounded);
        }
        return Value(digits >= 0 ? integerOf(input) : roundInteger(integerOf(input), digits));
    }
    const std::int64_t precision = given.integer(0, 0);
    raiseIfUndefined(input);
    if (!isNumber(input)) {
        raiseType("must be real number, not " + typeName(input));
    }
    const Value scale =
        calculate(interpreter, Operator::kPower, Value(std::int64_t{10}), Value(precision));
    const Value scaled = calculate(interpreter, Operator::kMultiply, input, scale);
    const double number = doubleOf(scaled);
    const Value whole =
        scaled.is(Kind::kFloat)
            ? Value(truncate(method == "ceil" ? std::ceil(number) : std::floor(number)))
            : scaled;
    return calculate(interpreter, Operator::kDivide, whole, scale);
}

Value fileSize(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("filesizeformat", arguments, {"binary"});
    const bool isBinary = given.isTrue(0, false);
    const std::optional<double> bytes = asFloat(input);
    if (!bytes) {
        raiseValue("could not convert to float: " + toRepr(input));
    }
    if (*bytes == 1) {
        return interpreter.text("1 Byte");
    }
    const double base = isBinary ? 1024 : 1000;
    if (*bytes < base) {
        return interpreter.text(std::to_string(truncate(*bytes)) + " Bytes");
    }
    constexpr std::string_view kLetters = "KMGTPEZY";
    double unit = base;
    std::size_t index = 0;
    for (; index + 1 < kLetters.size(); ++index) {
        unit *= base;
        if (*bytes < unit) {
            break;
        }
    }
    unit = index + 1 == kLetters.size() ? std::pow(base, 9) : unit;
    std::array<char, 400> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.1f ", base * *bytes / unit);
    std::string prefix(1, index == 0 && !isBinary ? 'k' : kLetters[index]);
    return interpreter.text(buffer.data() + prefix + (isBinary ? "iB" : "B"));
}

Value sum(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("sum", arguments, {"attribute", "start"});
    Value total = given.has(1) ? given[1] : Value(std::int64_t{0});
    if (total.isText()) {
        raiseType("sum() can't sum strings [use ''.join(seq) instead]");
    }
    for (const Value& item : interpreter.itemsOf(input)) {
        total = calculate(interpreter, Operator::kAdd, total,
                          given[0].isNone() ? item : attributePath(interpreter, item, given[0]));
    }
    return total;
}

constexpr std::array kNumberFilters = {
    FilterEntry{"abs", absolute},
    FilterEntry{"int", toInt},
    FilterEntry{"float", toFloat},
    FilterEntry{"round", roundFilter},
    FilterEntry{"filesizeformat", fileSize},
    FilterEntry{"sum", sum},
};

}  // namespace

std::span<const FilterEntry> numberFilters() {
    return kNumberFilters;
}

}  // namespace quern::engine::jinja
