#include "engine/text/jinja/compare.h"

#include <cmath>
#include <functional>
#include <string>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {
namespace {

constexpr int kMostCompareNesting = 200;

void checkNesting(int depth) {
    if (depth > kMostCompareNesting) {
        raise("RecursionError", "maximum recursion depth exceeded in comparison");
    }
}

/// Exact, also where a double cannot hold the integer.
std::partial_ordering orderIntFloat(std::int64_t a, double b) {
    if (std::isnan(b)) {
        return std::partial_ordering::unordered;
    }
    constexpr double kTwo63 = 9223372036854775808.0;
    if (b >= kTwo63) {
        return std::partial_ordering::less;
    }
    if (b < -kTwo63) {
        return std::partial_ordering::greater;
    }
    const double whole = std::trunc(b);
    const auto wholeInt = static_cast<std::int64_t>(whole);
    if (a != wholeInt) {
        return a < wholeInt ? std::partial_ordering::less : std::partial_ordering::greater;
    }
    return 0.0 <=> (b - whole);
}

std::partial_ordering reversed(std::partial_ordering order) {
    if (std::is_lt(order)) {
        return std::partial_ordering::greater;
    }
    return std::is_gt(order) ? std::partial_ordering::less : order;
}

std::partial_ordering orderNumbers(const Value& a, const Value& b) {
    const bool aFloats = a.is(Kind::kFloat);
    const bool bFloats = b.is(Kind::kFloat);
    if (aFloats && bFloats) {
        return a.number() <=> b.number();
    }
    if (aFloats) {
        return reversed(orderIntFloat(integerOf(b), a.number()));
    }
    if (bFloats) {
        return orderIntFloat(integerOf(a), b.number());
    }
    return integerOf(a) <=> integerOf(b);
}

bool isSequence(const Value& value) {
    return value.is(Kind::kList) || value.is(Kind::kTuple);
}

bool equalAt(const Value& a, const Value& b, int depth);

bool equalDicts(Dict& a, Dict& b, int depth) {
    if (a.entries().size() != b.entries().size()) {
        return false;
    }
    for (const auto& [key, value] : a.entries()) {
        const Value* other = b.find(key);
        if (other == nullptr || !equalAt(value, *other, depth + 1)) {
            return false;
        }
    }
    return true;
}

bool equalRanges(const Range& a, const Range& b) {
    const std::int64_t length = a.length();
    return length == b.length() &&
           (length == 0 || (a.start == b.start && (length == 1 || a.step == b.step)));
}

bool equalViews(const DictView& a, const DictView& b, int depth) {
    if (a.part != b.part || a.part == DictView::Part::kValues) {
        return &a == &b;
    }
    if (a.part == DictView::Part::kItems) {
        return equalDicts(a.dict, b.dict, depth);
    }
    if (a.dict.entries().size() != b.dict.entries().size()) {
        return false;
    }
    for (const auto& entry : a.dict.entries()) {
        if (b.dict.find(entry.first) == nullptr) {
            return false;
        }
    }
    return true;
}

bool equalAt(const Value& a, const Value& b, int depth) {
    checkNesting(depth);
    if (isNumber(a) && isNumber(b)) {
        return orderNumbers(a, b) == std::partial_ordering::equivalent;
    }
    const Kind kind = a.kind();
    if (kind != b.kind()) {
        return false;
    }
    switch (kind) {
        case Kind::kNone:
        case Kind::kUndefined:
            return true;
        case Kind::kText:
            return a.text() == b.text();
        case Kind::kBigInt:
            return a.as<BigInt>().digits == b.as<BigInt>().digits;
        case Kind::kList:
        case Kind::kTuple: {
            const auto& left = a.as<Sequence>().items;
            const auto& right = b.as<Sequence>().items;
            if (left.size() != right.size()) {
                return false;
            }
            for (std::size_t i = 0; i < left.size(); ++i) {
                if (!equalAt(left[i], right[i], depth + 1)) {
                    return false;
                }
            }
            return true;
        }
        case Kind::kDict:
            return equalDicts(a.as<Dict>(), b.as<Dict>(), depth);
        case Kind::kDictView:
            return equalViews(a.as<DictView>(), b.as<DictView>(), depth);
        case Kind::kRange:
            return equalRanges(a.as<Range>(), b.as<Range>());
        case Kind::kMethod:
            return a.as<Method>().call == b.as<Method>().call &&
                   a.as<Method>().self.address() == b.as<Method>().self.address();
        default:
            return a.address() == b.address();
    }
}

std::partial_ordering orderAt(const Value& a, const Value& b, std::string_view symbol, int depth) {
    checkNesting(depth);
    if (isNumber(a) && isNumber(b)) {
        return orderNumbers(a, b);
    }
    if (a.isText() && b.isText()) {
        // UTF-8 keeps the order of code points.
        return a.text().compare(b.text()) <=> 0;
    }
    if (isSequence(a) && a.kind() == b.kind()) {
        const auto& left = a.as<Sequence>().items;
        const auto& right = b.as<Sequence>().items;
        for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
            if (!equalAt(left[i], right[i], depth + 1)) {
                return orderAt(left[i], right[i], symbol, depth + 1);
            }
        }
        return left.size() <=> right.size();
    }
    raiseIfUndefined(a);
    raiseIfUndefined(b);
    raiseType("'" + std::string(symbol) + "' not supported between instances of '" + typeName(a) +
              "' and '" + typeName(b) + "'");
}

std::size_t hashAt(const Value& value, int depth) {
    checkNesting(depth);
    switch (value.kind()) {
        case Kind::kBool:
        case Kind::kInt:
            return std::hash<std::int64_t>()(integerOf(value));
        case Kind::kFloat: {
            const double number = value.number();
            if (std::trunc(number) == number && std::fabs(number) < 9.2e18) {
                return std::hash<std::int64_t>()(static_cast<std::int64_t>(number));
            }
            return std::hash<double>()(number);
        }
        case Kind::kText:
            return hashOf(value.text());
        case Kind::kBigInt:
            return hashOf(std::string_view(value.as<BigInt>().digits));
        case Kind::kTuple: {
            std::size_t hash = 0x345678;
            for (const Value& item : value.as<Sequence>().items) {
                hash = hash * 1000003 + hashAt(item, depth + 1);
            }
            return hash;
        }
        case Kind::kList:
        case Kind::kDict:
        case Kind::kDictView:
            raiseType("unhashable type: '" + typeName(value) + "'");
        case Kind::kNone:
        case Kind::kUndefined:
        case Kind::kRange:
            return 1;
        default:
            return std::hash<const void*>()(value.address());
    }
}

}  // namespace

bool isEqual(const Value& a, const Value& b) {
    return equalAt(a, b, 0);
}

std::partial_ordering order(const Value& a, const Value& b, std::string_view symbol) {
    return orderAt(a, b, symbol, 0);
}

bool isLess(const Value& a, const Value& b) {
    return order(a, b, "<") == std::partial_ordering::less;
}

std::size_t hashOf(const Value& value) {
    return hashAt(value, 0);
}

std::size_t hashOf(std::string_view text) {
    return std::hash<std::string_view>()(text);
}

}  // namespace quern::engine::jinja
