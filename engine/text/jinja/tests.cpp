#include "engine/text/jinja/tests.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/methods.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {
namespace {

template <Kind... kinds>
bool isKind(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("test", arguments, {});
    return (input.is(kinds) || ...);
}

template <Operator op>
bool compareWith(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("test", arguments, {"other"}, 1);
    return compare(interpreter, op, input, given[0]);
}

bool isDefined(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("defined", arguments, {});
    return !input.isUndefined();
}

template <bool expected>
bool isBoolean(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("boolean", arguments, {});
    return input.is(Kind::kBool) && input.boolean() == expected;
}

bool isNumberTest(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("number", arguments, {});
    return isNumber(input) || input.is(Kind::kBigInt);
}

bool isCallable(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("callable", arguments, {});
    switch (input.kind()) {
        case Kind::kUndefined:
        case Kind::kMacro:
        case Kind::kFunction:
        case Kind::kMethod:
        case Kind::kLoop:
        case Kind::kJoiner:
            return true;
        default:
            return false;
    }
}

bool isIterableTest(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("iterable", arguments, {});
    return isIterable(input);
}

bool isSequence(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("sequence", arguments, {});
    return hasLength(input) && !input.is(Kind::kDictView);
}

std::int64_t remainder(Interpreter& interpreter, const Value& input, const Value& divisor) {
    const Value rest = calculate(interpreter, Operator::kModulo, input, divisor);
    if (rest.is(Kind::kFloat)) {
        return rest.number() == 0.0 ? 0 : rest.number() == 1.0 ? 1 : 2;
    }
    return isInteger(rest) ? integerOf(rest) : 2;
}

bool isDivisible(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("divisibleby", arguments, {"num"}, 1);
    return remainder(interpreter, input, given[0]) == 0;
}

template <std::int64_t expected>
bool hasParity(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("even", arguments, {});
    return remainder(interpreter, input, Value(std::int64_t{2})) == expected;
}

template <bool wantsUpper>
bool isCase(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("upper", arguments, {});
    const std::string text = toText(input);
    interpreter.stepBytes(text.size());
    return isAllCased(text, wantsUpper);
}

bool isSame(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("sameas", arguments, {"other"}, 1);
    const Value& other = given[0];
    if (input.kind() != other.kind()) {
        return false;
    }
    switch (input.kind()) {
        case Kind::kNone:
            return true;
        case Kind::kBool:
            return input.boolean() == other.boolean();
        case Kind::kInt:
            return input.integer() == other.integer();
        case Kind::kFloat:
            return input.number() == other.number();
        case Kind::kText:
            return input.text() == other.text();
        default:
            return input.address() == other.address();
    }
}

bool isEscaped(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("escaped", arguments, {});
    return input.isMarkup();
}

bool isFilterName(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("filter", arguments, {});
    return input.isText() && findFilter(input.text()) != nullptr;
}

bool isTestName(Interpreter& /*interpreter*/, const Value& input, const Arguments& arguments) {
    const Parameters given("test", arguments, {});
    return input.isText() && findTest(input.text()) != nullptr;
}

constexpr std::array kTests = {
    TestEntry{"defined", isDefined},
    TestEntry{"undefined", isKind<Kind::kUndefined>},
    TestEntry{"none", isKind<Kind::kNone>},
    TestEntry{"string", isKind<Kind::kText>},
    TestEntry{"mapping", isKind<Kind::kDict>},
    TestEntry{"iterable", isIterableTest},
    TestEntry{"sequence", isSequence},
    TestEntry{"boolean", isKind<Kind::kBool>},
    TestEntry{"true", isBoolean<true>},
    TestEntry{"false", isBoolean<false>},
    TestEntry{"integer", isKind<Kind::kInt, Kind::kBigInt>},
    TestEntry{"float", isKind<Kind::kFloat>},
    TestEntry{"number", isNumberTest},
    TestEntry{"callable", isCallable},
    TestEntry{"divisibleby", isDivisible},
    TestEntry{"even", hasParity<0>},
    TestEntry{"odd", hasParity<1>},
    TestEntry{"lower", isCase<false>},
    TestEntry{"upper", isCase<true>},
    TestEntry{"sameas", isSame},
    TestEntry{"escaped", isEscaped},
    TestEntry{"filter", isFilterName},
    TestEntry{"test", isTestName},
    TestEntry{"in", compareWith<Operator::kIn>},
    TestEntry{"==", compareWith<Operator::kEqual>},
    TestEntry{"eq", compareWith<Operator::kEqual>},
    TestEntry{"equalto", compareWith<Operator::kEqual>},
    TestEntry{"!=", compareWith<Operator::kNotEqual>},
    TestEntry{"ne", compareWith<Operator::kNotEqual>},
    TestEntry{">", compareWith<Operator::kGreater>},
    TestEntry{"gt", compareWith<Operator::kGreater>},
    TestEntry{"greaterthan", compareWith<Operator::kGreater>},
    TestEntry{">=", compareWith<Operator::kGreaterEqual>},
    TestEntry{"ge", compareWith<Operator::kGreaterEqual>},
    TestEntry{"<", compareWith<Operator::kLess>},
    TestEntry{"lt", compareWith<Operator::kLess>},
    TestEntry{"lessthan", compareWith<Operator::kLess>},
    TestEntry{"<=", compareWith<Operator::kLessEqual>},
    TestEntry{"le", compareWith<Operator::kLessEqual>},
};

}  // namespace

const TestEntry* findTest(std::string_view name) {
    const auto* const found = std::find_if(kTests.begin(), kTests.end(),
                                           [name](const TestEntry& t) { return t.name == name; });
    return found != kTests.end() ? found : nullptr;
}

}  // namespace quern::engine::jinja
