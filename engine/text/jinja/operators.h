#pragma once

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// Python's arithmetic, with `+` and `*` on sequences and `%` on text. Integers have 64 bits;
/// beyond that it raises OverflowError.
[[nodiscard]] Value calculate(Interpreter& interpreter, Operator op, const Value& left,
                              const Value& right);
[[nodiscard]] Value signedValue(bool isMinus, const Value& value);

/// ==, !=, <, <=, >, >=, in, not in.
[[nodiscard]] bool compare(Interpreter& interpreter, Operator op, const Value& left,
                           const Value& right);
/// Python's `item in container`.
[[nodiscard]] bool contains(Interpreter& interpreter, const Value& container, const Value& item);

/// object[start:stop:step]; None where a bound is not given.
[[nodiscard]] Value sliceOf(Interpreter& interpreter, const Value& object, const Value& start,
                            const Value& stop, const Value& step);

/// Values that count as integers: int and bool.
[[nodiscard]] bool isInteger(const Value& value);
[[nodiscard]] bool isNumber(const Value& value);
[[nodiscard]] std::int64_t integerOf(const Value& value);
[[nodiscard]] double doubleOf(const Value& value);

}  // namespace quern::engine::jinja
