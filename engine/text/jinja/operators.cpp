#include "engine/text/jinja/operators.h"

#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <optional>

#include "engine/text/jinja/compare.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/format.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

constexpr std::array<std::string_view, 15> kSymbols = {
    "+", "-", "*", "/", "//", "%", "** or pow()", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};

[[noreturn]] void raiseOverflow() {
    raise("OverflowError", "integers beyond 64 bits are not computed with");
}

[[noreturn]] void raiseZero(std::string message) {
    raise("ZeroDivisionError", std::move(message));
}

[[noreturn]] void raiseOperands(Operator op, const Value& left, const Value& right) {
    raiseType("unsupported operand type(s) for " +
              std::string(kSymbols[static_cast<std::size_t>(op)]) + ": '" + typeName(left) +
              "' and '" + typeName(right) + "'");
}

double floorModulo(double left, double right) {
    double rest = std::fmod(left, right);
    if (rest != 0.0) {
        if ((right < 0) != (rest < 0)) {
            rest += right;
        }
    } else {
        rest = std::copysign(0.0, right);
    }
    return rest;
}

double floorDivide(double left, double right) {
    const double rest = floorModulo(left, right);
    const double quotient = (left - rest) / right;
    if (quotient == 0.0) {
        return std::copysign(0.0, left / right);
    }
    const double whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

std::int64_t integerPower(std::int64_t base, std::int64_t exponent) {
    std::int64_t result = 1;
    while (true) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) {
            raiseOverflow();
        }
        exponent >>= 1;
        if (exponent == 0) {
            return result;
        }
        if (__builtin_mul_overflow(base, base, &base)) {
            raiseOverflow();
        }
    }
}

/// The double nearest to the exact quotient, which two rounded operands would miss beyond 2^53.
double ratio(std::int64_t left, std::int64_t right) {
    const auto size = [](std::int64_t value) {
        return value < 0 ? 0 - static_cast<std::uint64_t>(value)
                         : static_cast<std::uint64_t>(value);
    };
    constexpr std::uint64_t kExact = std::uint64_t{1} << 53U;
    if (left == 0 || (size(left) <= kExact && size(right) <= kExact)) {
        return static_cast<double>(left) / static_cast<double>(right);
    }
    __extension__ using Wide = unsigned __int128;
    // As many bits as there are: the quotient has at least 64, and its last one stands for the
    // rest.
    const int shift = 64 + std::countl_zero(size(left));
    const Wide dividend = static_cast<Wide>(size(left)) << static_cast<unsigned>(shift);
    Wide quotient = dividend / size(right);
    if (quotient * size(right) != dividend) {
        quotient |= 1U;
    }
    const double result = std::ldexp(static_cast<double>(quotient), -shift);
    return (left < 0) == (right < 0) ? result : -result;
}

Value integers(Operator op, std::int64_t left, std::int64_t right) {
    std::int64_t out = 0;
    switch (op) {
        case Operator::kAdd:
            if (__builtin_add_overflow(left, right, &out)) {
                raiseOverflow();
            }
            return Value(out);
        case Operator::kSubtract:
            if (__builtin_sub_overflow(left, right, &out)) {
                raiseOverflow();
            }
            return Value(out);
        case Operator::kMultiply:
            if (__builtin_mul_overflow(left, right, &out)) {
                raiseOverflow();
            }
            return Value(out);
        case Operator::kDivide:
            if (right == 0) {
                raiseZero("division by zero");
            }
            return Value(ratio(left, right));
        case Operator::kFloorDivide:
        case Operator::kModulo: {
            if (right == 0) {
                raiseZero(op == Operator::kModulo ? "integer modulo by zero"
                                                  : "integer division or modulo by zero");
            }
            if (right == -1) {
                // The one quotient that overflows, and would trap.
                return op == Operator::kModulo ? Value(std::int64_t{0})
                                               : integers(Operator::kSubtract, 0, left);
            }
            std::int64_t quotient = left / right;
            std::int64_t rest = left % right;
            if (rest != 0 && (rest < 0) != (right < 0)) {
                rest += right;
                --quotient;
            }
            return Value(op == Operator::kModulo ? rest : quotient);
        }
        default:
            if (right < 0) {
                if (left == 0) {
                    raiseZero("0.0 cannot be raised to a negative power");
                }
                return Value(std::pow(static_cast<double>(left), static_cast<double>(right)));
            }
            return Value(integerPower(left, right));
    }
}

Value power(double left, double right) {
    if (left == 0.0 && right < 0.0) {
        raiseZero("0.0 cannot be raised to a negative power");
    }
    if (left < 0.0 && std::isfinite(left) && std::isfinite(right) && std::trunc(right) != right) {
        raiseValue(
            "a negative number cannot be raised to a fractional power: the result is "
            "complex");
    }
    const double result = std::pow(left, right);
    if (std::isinf(result) && std::isfinite(left) && std::isfinite(right)) {
        raise("OverflowError", "(34, 'Numerical result out of range')");
    }
    return Value(result);
}

Value doubles(Operator op, double left, double right) {
    switch (op) {
        case Operator::kAdd:
            return Value(left + right);
        case Operator::kSubtract:
            return Value(left - right);
        case Operator::kMultiply:
            return Value(left * right);
        case Operator::kDivide:
            if (right == 0.0) {
                raiseZero("float division by zero");
            }
            return Value(left / right);
        case Operator::kFloorDivide:
            if (right == 0.0) {
                raiseZero("float floor division by zero");
            }
            return Value(floorDivide(left, right));
        case Operator::kModulo:
            if (right == 0.0) {
                raiseZero("float modulo");
            }
            return Value(floorModulo(left, right));
        default:
            return power(left, right);
    }
}

bool isSequence(const Value& value) {
    return value.is(Kind::kList) || value.is(Kind::kTuple);
}

/// Text joined to markup is escaped, from either side.
Value addTexts(Interpreter& interpreter, const Value& left, const Value& right) {
    const bool isMarkup = left.isMarkup() || right.isMarkup();
    const auto part = [isMarkup](const Value& value) {
        return isMarkup && !value.isMarkup() ? escapeHtml(value.text()) : std::string(value.text());
    };
    return interpreter.text(part(left) + part(right), isMarkup);
}

Value add(Interpreter& interpreter, const Value& left, const Value& right) {
    if (left.isText()) {
        if (right.isText()) {
            return addTexts(interpreter, left, right);
        }
        raiseIfUndefined(right);
        if (left.isMarkup()) {
            raiseOperands(Operator::kAdd, left, right);
        }
        raiseType("can only concatenate str (not \"" + typeName(right) + "\") to str");
    }
    if (isSequence(left)) {
        raiseIfUndefined(right);
        if (left.kind() != right.kind()) {
            const std::string name = typeName(left);
            raiseType("can only concatenate " + name + " (not \"" + typeName(right) + "\") to " +
                      name);
        }
        std::vector<Value> items = left.as<Sequence>().items;
        const auto& more = right.as<Sequence>().items;
        interpreter.step(items.size() + more.size());
        items.insert(items.end(), more.begin(), more.end());
        return left.is(Kind::kList) ? interpreter.heap().list(std::move(items))
                                    : interpreter.heap().tuple(std::move(items));
    }
    raiseOperands(Operator::kAdd, left, right);
}

Value repeat(Interpreter& interpreter, const Value& what, std::int64_t times) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
    const auto size = static_cast<std::size_t>(what.isText() ? what.text().size()
                                                             : what.as<Sequence>().items.size());
    std::size_t total = 0;
    if (__builtin_mul_overflow(size, count, &total) || total > (std::size_t{1} << 28U)) {
        raise("MemoryError", "a repeated value is longer than 2^28");
    }
    if (what.isText()) {
        interpreter.stepBytes(total);
        std::string out;
        out.reserve(total);
        for (std::size_t i = 0; i < count && size > 0; ++i) {
            out += what.text();
        }
        return interpreter.text(std::move(out), what.isMarkup());
    }
    interpreter.step(total);
    interpreter.heap().take(total * sizeof(Value));
    std::vector<Value> out;
    out.reserve(total);
    for (std::size_t i = 0; i < count && size > 0; ++i) {
        const auto& items = what.as<Sequence>().items;
        out.insert(out.end(), items.begin(), items.end());
    }
    return what.is(Kind::kList) ? interpreter.heap().list(std::move(out))
                                : interpreter.heap().tuple(std::move(out));
}

std::optional<std::int64_t> sliceBound(const Value& bound) {
    if (bound.isNone()) {
        return std::nullopt;
    }
    if (!isInteger(bound)) {
        raiseType("slice indices must be integers or None or have an __index__ method");
    }
    return integerOf(bound);
}

struct Bounds {
    std::int64_t start;
    std::int64_t stop;
    std::int64_t step;
    std::int64_t count;
};

/// Python's rules for slices over `length` items.
Bounds sliceBounds(std::int64_t length, const Value& startValue, const Value& stopValue,
                   const Value& stepValue) {
    const std::int64_t step = sliceBound(stepValue).value_or(1);
    if (step == 0) {
        raiseValue("slice step cannot be zero");
    }
    const std::int64_t lowest = step < 0 ? -1 : 0;
    const std::int64_t highest = step < 0 ? length - 1 : length;
    const auto clamp = [&](std::optional<std::int64_t> bound, std::int64_t otherwise) {
        if (!bound) {
            return otherwise;
        }
        if (*bound < 0) {
            return *bound < -length ? lowest : std::max(*bound + length, lowest);
        }
        return std::min(*bound, highest);
    };
    const std::int64_t start = clamp(sliceBound(startValue), step < 0 ? highest : lowest);
    const std::int64_t stop = clamp(sliceBound(stopValue), step < 0 ? lowest : highest);
    std::int64_t count = 0;
    if (step > 0 && start < stop) {
        count = (stop - start - 1) / step + 1;
    } else if (step < 0 && start > stop) {
        // Unsigned, since the smallest step has no positive counterpart.
        const auto stride = std::uint64_t{0} - static_cast<std::uint64_t>(step);
        count =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(start - stop - 1) / stride) + 1;
    }
    return {start, stop, step, count};
}

Value sliceText(Interpreter& interpreter, const Value& object, const Bounds& bounds) {
    const Text& text = object.textObject();
    interpreter.stepBytes(text.bytes.size());
    if (bounds.step == 1) {
        const auto start = static_cast<std::size_t>(bounds.start);
        const auto count = static_cast<std::size_t>(bounds.count);
        const std::size_t from = text.isAscii() ? start : byteOffset(text.bytes, start);
        const std::size_t to = text.isAscii() ? start + count : byteOffset(text.bytes, count, from);
        return interpreter.text(text.bytes.substr(std::min(from, text.bytes.size()), to - from),
                                text.isMarkup);
    }
    const std::u32string points = toCodePoints(text.bytes);
    std::string out;
    for (std::int64_t i = 0; i < bounds.count; ++i) {
        text::appendUtf8(out, points[static_cast<std::size_t>(bounds.start + i * bounds.step)]);
    }
    return interpreter.text(std::move(out), text.isMarkup);
}

}  // namespace

bool isInteger(const Value& value) {
    return value.is(Kind::kInt) || value.is(Kind::kBool);
}

bool isNumber(const Value& value) {
    return isInteger(value) || value.is(Kind::kFloat);
}

std::int64_t integerOf(const Value& value) {
    return value.is(Kind::kBool) ? static_cast<std::int64_t>(value.boolean()) : value.integer();
}

double doubleOf(const Value& value) {
    return value.is(Kind::kFloat) ? value.number() : static_cast<double>(integerOf(value));
}

Value calculate(Interpreter& interpreter, Operator op, const Value& left, const Value& right) {
    if (isInteger(left) && isInteger(right)) {
        return integers(op, integerOf(left), integerOf(right));
    }
    if (isNumber(left) && isNumber(right)) {
        return doubles(op, doubleOf(left), doubleOf(right));
    }
    raiseIfUndefined(left);
    if (op == Operator::kModulo && left.isText()) {
        return interpreter.text(formatPercent(interpreter, left, right), left.isMarkup());
    }
    raiseIfUndefined(right);
    if (left.is(Kind::kBigInt) || right.is(Kind::kBigInt)) {
        raiseOverflow();
    }
    if (op == Operator::kAdd) {
        return add(interpreter, left, right);
    }
    if (op == Operator::kMultiply) {
        const bool repeatsLeft = left.isText() || isSequence(left);
        const bool repeatsRight = right.isText() || isSequence(right);
        if (repeatsLeft && isInteger(right)) {
            return repeat(interpreter, left, integerOf(right));
        }
        if (repeatsRight && isInteger(left)) {
            return repeat(interpreter, right, integerOf(left));
        }
        if (repeatsLeft || repeatsRight) {
            raiseType("can't multiply sequence by non-int of type '" +
                      typeName(repeatsLeft ? right : left) + "'");
        }
    }
    raiseOperands(op, left, right);
}

Value signedValue(bool isMinus, const Value& value) {
    raiseIfUndefined(value);
    if (isInteger(value)) {
        return isMinus ? integers(Operator::kSubtract, 0, integerOf(value))
                       : Value(integerOf(value));
    }
    if (value.is(Kind::kFloat)) {
        return Value(isMinus ? -value.number() : value.number());
    }
    raiseType("bad operand type for unary " + std::string(isMinus ? "-" : "+") + ": '" +
              typeName(value) + "'");
}

bool compare(Interpreter& interpreter, Operator op, const Value& left, const Value& right) {
    const auto ordered = [&](std::string_view symbol) { return order(left, right, symbol); };
    switch (op) {
        case Operator::kEqual:
            return isEqual(left, right);
        case Operator::kNotEqual:
            return !isEqual(left, right);
        case Operator::kLess:
            return std::is_lt(ordered("<"));
        case Operator::kLessEqual:
            return std::is_lteq(ordered("<="));
        case Operator::kGreater:
            return std::is_gt(ordered(">"));
        case Operator::kGreaterEqual:
            return std::is_gteq(ordered(">="));
        case Operator::kIn:
            return contains(interpreter, right, left);
        default:
            return !contains(interpreter, right, left);
    }
}

bool contains(Interpreter& interpreter, const Value& container, const Value& item) {
    switch (container.kind()) {
        case Kind::kText:
            if (!item.isText()) {
                raiseType("'in <string>' requires string as left operand, not " + typeName(item));
            }
            interpreter.stepBytes(container.text().size());
            return container.text().find(item.text()) != std::string_view::npos;
        case Kind::kDict:
            return container.as<Dict>().find(item) != nullptr;
        default:
            break;
    }
    if (!isIterable(container)) {
        raiseType("argument of type '" + typeName(container) + "' is not iterable");
    }
    Cursor next = iterate(interpreter.heap(), container);
    Value candidate;
    while (next(candidate)) {
        interpreter.step();
        if (isEqual(candidate, item)) {
            return true;
        }
    }
    return false;
}

Value sliceOf(Interpreter& interpreter, const Value& object, const Value& start, const Value& stop,
              const Value& step) {
    raiseIfUndefined(object);
    switch (object.kind()) {
        case Kind::kText:
            return sliceText(interpreter, object, sliceBounds(lengthOf(object), start, stop, step));
        case Kind::kList:
        case Kind::kTuple: {
            const auto& items = object.as<Sequence>().items;
            const Bounds bounds = sliceBounds(lengthOf(object), start, stop, step);
            interpreter.step(static_cast<std::uint64_t>(bounds.count));
            std::vector<Value> out;
            out.reserve(static_cast<std::size_t>(bounds.count));
            for (std::int64_t i = 0; i < bounds.count; ++i) {
                out.push_back(items[static_cast<std::size_t>(bounds.start + i * bounds.step)]);
            }
            return object.is(Kind::kList) ? interpreter.heap().list(std::move(out))
                                          : interpreter.heap().tuple(std::move(out));
        }
        case Kind::kRange: {
            const auto& range = object.as<Range>();
            const Bounds bounds = sliceBounds(range.length(), start, stop, step);
            // With one item or none the stride is never walked, and may not fit.
            const std::int64_t stride = bounds.count > 1 ? range.step * bounds.step : 1;
            const std::int64_t first = range.start + bounds.start * range.step;
            const std::int64_t end = range.start + bounds.stop * range.step;
            return Value(&interpreter.heap().make<Range>(first, end, stride));
        }
        case Kind::kDict:
            raiseType("unhashable type: 'slice'");
        default:
            raiseType("'" + typeName(object) + "' object is not subscriptable");
    }
}

}  // namespace quern::engine::jinja
