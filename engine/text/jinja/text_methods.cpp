// Methods of str that look at, strip, pad and case a text.
#include <algorithm>
#include <array>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/format.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/methods.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

Value same(Interpreter& interpreter, const Value& self, std::string text) {
    return interpreter.text(std::move(text), self.isMarkup());
}

template <Ends ends>
Value stripMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("strip", arguments, {"chars"});
    std::optional<std::string_view> chars;
    if (!given[0].isNone()) {
        chars = given.text(0, "");
    }
    interpreter.stepBytes(self.text().size());
    return same(interpreter, self, std::string(strip(self.text(), ends, chars)));
}

template <std::string (*change)(std::string_view)>
Value caseMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("str method", arguments, {});
    interpreter.stepBytes(self.text().size() * 4);
    return same(interpreter, self, change(self.text()));
}

/// The bytes of self[start:end], with Python's rules for negative bounds; absent when start lies
/// beyond the end.
std::optional<std::pair<std::size_t, std::size_t>> window(const Value& self,
                                                          const Parameters& given,
                                                          std::size_t first) {
    const std::int64_t length = lengthOf(self);
    const auto bound = [&](std::size_t i, std::int64_t otherwise) {
        std::int64_t value = given[i].isNone() ? otherwise : given.integer(i, otherwise);
        if (value < 0) {
            value = std::max<std::int64_t>(value + length, 0);
        }
        return value;
    };
    const std::int64_t start = bound(first, 0);
    const std::int64_t end = std::min(bound(first + 1, length), length);
    if (start > length || start > end) {
        return std::nullopt;
    }
    const std::size_t from = byteOffset(self.text(), static_cast<std::size_t>(start));
    return std::pair{from, byteOffset(self.text(), static_cast<std::size_t>(end - start), from)};
}

template <bool isStart>
Value affixMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const char* name = isStart ? "startswith" : "endswith";
    const Parameters given(name, arguments, {"prefix", "start", "end"}, 1);
    interpreter.stepBytes(self.text().size());
    const auto range = window(self, given, 1);
    const auto matches = [&](const Value& affix) {
        raiseIfUndefined(affix);
        if (!affix.isText()) {
            raiseType(std::string(name) + " first arg must be str or a tuple of str, not " +
                      typeName(affix));
        }
        if (!range) {
            return false;
        }
        const std::string_view text =
            self.text().substr(range->first, range->second - range->first);
        return isStart ? text.starts_with(affix.text()) : text.ends_with(affix.text());
    };
    if (given[0].is(Kind::kTuple)) {
        const auto& options = given[0].as<Sequence>().items;
        return Value(std::any_of(options.begin(), options.end(), matches));
    }
    return Value(matches(given[0]));
}

enum class Missing { kMinusOne, kRaise };

template <bool fromEnd, Missing missing>
Value findMethodOf(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("find", arguments, {"sub", "start", "end"}, 1);
    const std::string_view sub = given.text(0, "");
    interpreter.stepBytes(self.text().size());
    if (const auto range = window(self, given, 1)) {
        const std::string_view text =
            self.text().substr(range->first, range->second - range->first);
        const std::size_t at = fromEnd ? text.rfind(sub) : text.find(sub);
        if (at != std::string_view::npos) {
            return Value(static_cast<std::int64_t>(
                countCodePoints(self.text().substr(0, range->first + at))));
        }
    }
    if constexpr (missing == Missing::kRaise) {
        raiseValue("substring not found");
    }
    return Value(std::int64_t{-1});
}

Value countMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("count", arguments, {"sub", "start", "end"}, 1);
    const std::string_view sub = given.text(0, "");
    interpreter.stepBytes(self.text().size());
    const auto range = window(self, given, 1);
    if (!range) {
        return Value(std::int64_t{0});
    }
    const std::string_view text = self.text().substr(range->first, range->second - range->first);
    if (sub.empty()) {
        return Value(static_cast<std::int64_t>(countCodePoints(text)) + 1);
    }
    std::int64_t count = 0;
    for (std::size_t at = 0; (at = text.find(sub, at)) != std::string_view::npos;
         at += sub.size()) {
        ++count;
    }
    return Value(count);
}

Value replaceMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("replace", arguments, {"old", "new", "count"}, 2);
    const auto part = [&](std::size_t i) {
        const std::string_view text = given.text(i, "");
        return self.isMarkup() && !given[i].isMarkup() ? escapeHtml(text) : std::string(text);
    };
    return same(interpreter, self,
                replaceText(interpreter, self.text(), part(0), part(1), given.integer(2, -1)));
}

Value joinMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("join", arguments, {"iterable"}, 1);
    if (!isIterable(given[0])) {
        raiseType("can only join an iterable");
    }
    std::string out;
    std::size_t index = 0;
    for (const Value& item : interpreter.itemsOf(given[0])) {
        if (!item.isText()) {
            raiseType("sequence item " + std::to_string(index) + ": expected str instance, " +
                      typeName(item) + " found");
        }
        out += index == 0 ? "" : self.text();
        out += self.isMarkup() && !item.isMarkup() ? escapeHtml(item.text())
                                                   : std::string(item.text());
        interpreter.stepBytes(item.text().size() + self.text().size());
        interpreter.checkSize(out.size());
        ++index;
    }
    return same(interpreter, self, std::move(out));
}

Value formatMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    if (!self.isMarkup()) {
        return interpreter.text(formatBraces(interpreter, self.text(), arguments));
    }
    Arguments escaped = arguments;
    const auto escape = [&](Value& value) {
        if (value.isText() && !value.isMarkup()) {
            value = interpreter.text(escapeHtml(value.text()), true);
        }
    };
    std::for_each(escaped.positional.begin(), escaped.positional.end(), escape);
    for (auto& named : escaped.named) {
        escape(named.second);
    }
    return interpreter.text(formatBraces(interpreter, self.text(), escaped), true);
}

Value formatMapMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("format_map", arguments, {"mapping"}, 1);
    if (!given[0].is(Kind::kDict)) {
        raiseType("format_map() argument must be a mapping, not " + typeName(given[0]));
    }
    Arguments named;
    for (const auto& [key, value] : given[0].as<Dict>().entries()) {
        named.named.emplace_back(toText(key), value);
    }
    return formatMethod(interpreter, self, named);
}

enum class Side { kLeft, kRight, kCenter };

template <Side side>
Value justifyMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("justify", arguments, {"width", "fillchar"}, 1);
    const std::string_view fill = given.text(1, " ");
    if (countCodePoints(fill) != 1) {
        raiseType("The fill character must be exactly one character long");
    }
    const std::int64_t width = given.integer(0, 0);
    const std::int64_t missing = std::max<std::int64_t>(width - lengthOf(self), 0);
    interpreter.checkSize(static_cast<std::size_t>(missing));
    interpreter.step(static_cast<std::uint64_t>(missing) / 16);
    std::int64_t left = 0;
    if (side == Side::kRight) {
        left = missing;
    } else if (side == Side::kCenter) {
        left = missing / 2 + (missing & width & 1);
    }
    std::string out;
    for (std::int64_t i = 0; i < left; ++i) {
        out += fill;
    }
    out += self.text();
    for (std::int64_t i = left; i < missing; ++i) {
        out += fill;
    }
    return same(interpreter, self, std::move(out));
}

Value zfillMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("zfill", arguments, {"width"}, 1);
    const std::int64_t missing = std::max<std::int64_t>(given.integer(0, 0) - lengthOf(self), 0);
    interpreter.checkSize(static_cast<std::size_t>(missing));
    interpreter.step(static_cast<std::uint64_t>(missing) / 16);
    const std::string_view text = self.text();
    const std::size_t sign = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    return same(interpreter, self,
                std::string(text.substr(0, sign)) +
                    std::string(static_cast<std::size_t>(missing), '0') +
                    std::string(text.substr(sign)));
}

Value expandTabsMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("expandtabs", arguments, {"tabsize"});
    const std::int64_t size = std::clamp<std::int64_t>(given.integer(0, 8), 0, 1000);
    std::string out;
    std::int64_t column = 0;
    const std::string_view text = self.text();
    for (std::size_t pos = 0; pos < text.size();) {
        const std::size_t start = pos;
        const char32_t c = nextCodePoint(text, pos);
        if (c == U'\t') {
            const std::int64_t spaces = size == 0 ? 0 : size - column % size;
            interpreter.step(static_cast<std::uint64_t>(spaces) / 16);
            interpreter.checkSize(out.size());
            out.append(static_cast<std::size_t>(spaces), ' ');
            column += spaces;
        } else {
            out += text.substr(start, pos - start);
            column = c == U'\n' || c == U'\r' ? 0 : column + 1;
        }
    }
    return same(interpreter, self, std::move(out));
}

template <bool isPrefix>
Value removeAffixMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("removeprefix", arguments, {"affix"}, 1);
    const std::string_view affix = given.text(0, "");
    std::string_view text = self.text();
    if (isPrefix && text.starts_with(affix)) {
        text.remove_prefix(affix.size());
    } else if (!isPrefix && text.ends_with(affix)) {
        text.remove_suffix(affix.size());
    }
    return same(interpreter, self, std::string(text));
}

/// True when the text is not empty and every character is of the class.
template <bool (*belongs)(char32_t)>
Value everyMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("str method", arguments, {});
    interpreter.stepBytes(self.text().size());
    const std::u32string points = toCodePoints(self.text());
    return Value(!points.empty() && std::all_of(points.begin(), points.end(), belongs));
}

bool isAlphaNumeric(char32_t c) {
    return isAlpha(c) || isNumeric(c);
}

Value isAsciiMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("isascii", arguments, {});
    interpreter.step();
    return Value(self.textObject().isAscii());
}

Value isPrintableMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("isprintable", arguments, {});
    interpreter.stepBytes(self.text().size());
    const std::u32string points = toCodePoints(self.text());
    return Value(std::all_of(points.begin(), points.end(), isPrintable));
}

Value isIdentifierMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("isidentifier", arguments, {});
    interpreter.stepBytes(self.text().size());
    const std::u32string points = toCodePoints(self.text());
    return Value(!points.empty() && isIdentifierStart(points[0]) &&
                 std::all_of(points.begin() + 1, points.end(), isIdentifierPart));
}

/// At least one cased character, and none of the other case.
template <bool wantsUpper>
Value casedMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("isupper", arguments, {});
    interpreter.stepBytes(self.text().size());
    return Value(isAllCased(self.text(), wantsUpper));
}

Value isTitleMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("istitle", arguments, {});
    interpreter.stepBytes(self.text().size());
    bool wasCased = false;
    bool hasCased = false;
    for (const char32_t c : toCodePoints(self.text())) {
        const bool isHigh = isUpper(c) || isTitle(c);
        if ((isHigh && wasCased) || (isLower(c) && !wasCased)) {
            return Value(false);
        }
        wasCased = isHigh || isLower(c);
        hasCased = hasCased || wasCased;
    }
    return Value(hasCased);
}

constexpr std::array kTextMethods = {
    MethodEntry{"strip", stripMethod<Ends::kBoth>},
    MethodEntry{"lstrip", stripMethod<Ends::kLeft>},
    MethodEntry{"rstrip", stripMethod<Ends::kRight>},
    MethodEntry{"upper", caseMethod<toUpper>},
    MethodEntry{"lower", caseMethod<toLower>},
    MethodEntry{"casefold", caseMethod<toLower>},
    MethodEntry{"title", caseMethod<toTitle>},
    MethodEntry{"capitalize", caseMethod<capitalize>},
    MethodEntry{"swapcase", caseMethod<swapCase>},
    MethodEntry{"startswith", affixMethod<true>},
    MethodEntry{"endswith", affixMethod<false>},
    MethodEntry{"find", findMethodOf<false, Missing::kMinusOne>},
    MethodEntry{"rfind", findMethodOf<true, Missing::kMinusOne>},
    MethodEntry{"index", findMethodOf<false, Missing::kRaise>},
    MethodEntry{"rindex", findMethodOf<true, Missing::kRaise>},
    MethodEntry{"count", countMethod},
    MethodEntry{"replace", replaceMethod},
    MethodEntry{"join", joinMethod},
    MethodEntry{"format", formatMethod},
    MethodEntry{"format_map", formatMapMethod},
    MethodEntry{"ljust", justifyMethod<Side::kLeft>},
    MethodEntry{"rjust", justifyMethod<Side::kRight>},
    MethodEntry{"center", justifyMethod<Side::kCenter>},
    MethodEntry{"zfill", zfillMethod},
    MethodEntry{"expandtabs", expandTabsMethod},
    MethodEntry{"removeprefix", removeAffixMethod<true>},
    MethodEntry{"removesuffix", removeAffixMethod<false>},
    MethodEntry{"isalpha", everyMethod<isAlpha>},
    MethodEntry{"isalnum", everyMethod<isAlphaNumeric>},
    MethodEntry{"isdigit", everyMethod<isDigit>},
    MethodEntry{"isdecimal", everyMethod<isDecimal>},
    MethodEntry{"isnumeric", everyMethod<isNumeric>},
    MethodEntry{"isspace", everyMethod<isSpace>},
    MethodEntry{"isascii", isAsciiMethod},
    MethodEntry{"isprintable", isPrintableMethod},
    MethodEntry{"isidentifier", isIdentifierMethod},
    MethodEntry{"isupper", casedMethod<true>},
    MethodEntry{"islower", casedMethod<false>},
    MethodEntry{"istitle", isTitleMethod},
};

}  // namespace

bool isAllCased(std::string_view text, bool wantsUpper) {
    bool hasCased = false;
    for (const char32_t c : toCodePoints(text)) {
        if (isTitle(c) || (wantsUpper ? isLower(c) : isUpper(c))) {
            return false;
        }
        hasCased = hasCased || isUpper(c) || isLower(c);
    }
    return hasCased;
}

std::string replaceText(Interpreter& interpreter, std::string_view text, std::string_view old,
                        std::string_view with, std::int64_t count) {
    interpreter.stepBytes(text.size());
    std::string out;
    std::size_t at = 0;
    std::int64_t done = 0;
    const auto isOpen = [&] { return count < 0 || done < count; };
    if (old.empty()) {
        // Python puts the new text between all characters and at both ends.
        while (isOpen()) {
            interpreter.stepBytes(with.size());
            out += with;
            interpreter.checkSize(out.size());
            ++done;
            if (at == text.size()) {
                return out;
            }
            const std::size_t start = at;
            (void)nextCodePoint(text, at);
            out += text.substr(start, at - start);
        }
        return out += text.substr(at);
    }
    while (isOpen()) {
        const std::size_t found = text.find(old, at);
        if (found == std::string_view::npos) {
            break;
        }
        interpreter.stepBytes(with.size());
        out += text.substr(at, found - at);
        out += with;
        interpreter.checkSize(out.size());
        at = found + old.size();
        ++done;
    }
    return out += text.substr(at);
}

const MethodEntry* findTextMethod(std::string_view name) {
    const auto* const found = std::find_if(kTextMethods.begin(), kTextMethods.end(),
                                           [name](const MethodEntry& m) { return m.name == name; });
    return found != kTextMethods.end() ? found : findTextSplitMethod(name);
}

}  // namespace quern::engine::jinja
