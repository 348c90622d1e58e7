// Filters from text to text.
#include <algorithm>
#include <array>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/format.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/json.h"
#include "engine/text/jinja/methods.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

/// Text stays what it is (markup too); all else becomes its str().
Value softText(Interpreter& interpreter, const Value& input) {
    return input.isText() ? input : interpreter.text(toText(input));
}

Value viaMethod(Interpreter& interpreter, const Value& input, std::string_view method,
                const Arguments& arguments) {
    return findTextMethod(method)->call(interpreter, softText(interpreter, input), arguments);
}

Value upper(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    return viaMethod(interpreter, input, "upper", arguments);
}

Value lower(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    return viaMethod(interpreter, input, "lower", arguments);
}

Value capitalizeFilter(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    return viaMethod(interpreter, input, "capitalize", arguments);
}

Value trim(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    return viaMethod(interpreter, input, "strip", arguments);
}

Value center(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("center", arguments, {"width"});
    return viaMethod(
        interpreter, input, "center",
        Arguments{.positional = {given.has(0) ? given[0] : Value(std::int64_t{80})}, .named = {}});
}

Value title(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("title", arguments, {});
    const std::string text = toText(input);
    interpreter.stepBytes(text.size() * 4);
    // Words begin behind white space, hyphens and opening brackets: not as str.title has it.
    const auto isBreak = [](char32_t c) {
        return isSpace(c) || c == U'-' || c == U'(' || c == U'{' || c == U'[' || c == U'<';
    };
    std::string out;
    for (std::size_t pos = 0; pos < text.size();) {
        const std::size_t start = pos;
        std::size_t end = pos;
        const bool breaks = isBreak(nextCodePoint(text, pos));
        end = pos;
        while (end < text.size()) {
            std::size_t next = end;
            if (isBreak(nextCodePoint(text, next)) != breaks) {
                break;
            }
            end = next;
        }
        out += toUpper(std::string_view(text).substr(start, pos - start));
        out += toLower(std::string_view(text).substr(pos, end - pos));
        pos = end;
    }
    return interpreter.text(std::move(out));
}

Value replaceFilter(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("replace", arguments, {"old", "new", "count"}, 2);
    const std::int64_t count = given[2].isNone() ? -1 : given.integer(2, -1);
    return interpreter.text(
        replaceText(interpreter, toText(input), toText(given[0]), toText(given[1]), count));
}

Value formatFilter(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    if (!arguments.positional.empty() && !arguments.named.empty()) {
        raise("FilterArgumentError",
              "can't handle positional and keyword arguments at the same time");
    }
    Value values;
    if (arguments.named.empty()) {
        values = interpreter.heap().tuple(arguments.positional);
    } else {
        auto& dict = interpreter.heap().make<Dict>();
        for (const auto& [name, value] : arguments.named) {
            dict.set(interpreter.text(name), value);
        }
        values = Value(&dict);
    }
    const Value format = softText(interpreter, input);
    return interpreter.text(formatPercent(interpreter, format, values), format.isMarkup());
}

Value indent(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("indent", arguments, {"width", "first", "blank"});
    raiseIfUndefined(input);
    if (input.is(Kind::kList)) {
        raise("AttributeError", "'list' object has no attribute 'splitlines'");
    }
    if (!input.isText()) {
        raiseType("unsupported operand type(s) for +=: '" + typeName(input) + "' and 'str'");
    }
    std::string margin;
    if (given[0].isText()) {
        margin = given[0].text();
    } else {
        const std::int64_t width = given.integer(0, 4);
        if (width > 100'000) {
            raise("MemoryError", "an indent is wider than 100000");
        }
        margin.assign(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
    }
    const bool indentsBlank = given.isTrue(2, false);
    const std::string all = std::string(input.text()) + "\n";
    std::string out = given.isTrue(1, false) ? margin : "";
    bool isFirst = true;
    for (const std::string_view line : splitLines(all, false)) {
        interpreter.stepBytes(line.size() + margin.size());
        interpreter.checkSize(out.size());
        if (!isFirst) {
            out += '\n';
            out += indentsBlank || !line.empty() ? margin : "";
        }
        out += line;
        isFirst = false;
    }
    return interpreter.text(std::move(out), input.isMarkup());
}

Value truncateFilter(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("truncate", arguments, {"length", "killwords", "end", "leeway"});
    const std::int64_t length = given.integer(0, 255);
    const std::string_view end = given.text(2, "...");
    const std::int64_t leeway = given[3].isNone() ? 5 : given.integer(3, 5);
    const auto endLength = static_cast<std::int64_t>(countCodePoints(end));
    if (length < endLength) {
        raise("AssertionError", "expected length >= " + std::to_string(endLength) + ", got " +
                                    std::to_string(length));
    }
    if (leeway < 0) {
        raise("AssertionError", "expected leeway >= 0, got " + std::to_string(leeway));
    }
    // Whatever has a length is let through while it is short.
    if (input.isUndefined() || lengthOf(input) - leeway <= length) {
        return input;
    }
    if (!input.isText()) {
        raiseType("a " + typeName(input) + " cannot be truncated");
    }
    std::string_view kept = input.text().substr(
        0, byteOffset(input.text(), static_cast<std::size_t>(length - endLength)));
    if (!given.isTrue(1, false)) {
        kept = kept.substr(0, kept.rfind(' '));
    }
    return interpreter.text(std::string(kept) + std::string(end), input.isMarkup());
}

Value wordCount(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("wordcount", arguments, {});
    const std::string text = toText(input);
    interpreter.stepBytes(text.size());
    std::int64_t words = 0;
    bool wasWord = false;
    for (const char32_t c : toCodePoints(text)) {
        const bool isWord = isAlpha(c) || isNumeric(c) || c == U'_';
        words += isWord && !wasWord ? 1 : 0;
        wasWord = isWord;
    }
    return Value(words);
}

Value string(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("string", arguments, {});
    return softText(interpreter, input);
}

Value toJson(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("tojson", arguments,
                           {"ensure_ascii", "indent", "separators", "sort_keys"});
    JsonStyle style;
    style.ensureAscii = given.isTrue(0, false);
    style.sortKeys = given.isTrue(3, false);
    if (given[1].isText()) {
        style.indent = std::string(given[1].text());
    } else if (!given[1].isNone()) {
        const std::int64_t width = std::clamp<std::int64_t>(given.integer(1, 0), 0, 100);
        style.indent = std::string(static_cast<std::size_t>(width), ' ');
    }
    if (style.indent) {
        style.itemSeparator = ",";
    }
    if (!given[2].isNone()) {
        const std::vector<Value> pair = interpreter.itemsOf(given[2]);
        if (pair.size() != 2 || !pair[0].isText() || !pair[1].isText()) {
            raiseType("separators must be an (item_separator, key_separator) tuple");
        }
        style.itemSeparator = pair[0].text();
        style.keySeparator = pair[1].text();
    }
    return interpreter.text(dumpJson(input, style));
}

/// The width to which Python's pprint keeps a value on one line.
constexpr std::size_t kPrettyWidth = 80;

Value prettyPrint(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("pprint", arguments, {});
    std::string shown = sortedRepr(input);
    if (countCodePoints(shown) > kPrettyWidth) {
        raiseValue("pprint of what does not fit into a line of 80 is not supported");
    }
    return interpreter.text(std::move(shown));
}

constexpr std::array kTextFilters = {
    FilterEntry{"upper", upper},
    FilterEntry{"lower", lower},
    FilterEntry{"capitalize", capitalizeFilter},
    FilterEntry{"title", title},
    FilterEntry{"trim", trim},
    FilterEntry{"center", center},
    FilterEntry{"replace", replaceFilter},
    FilterEntry{"format", formatFilter},
    FilterEntry{"indent", indent},
    FilterEntry{"truncate", truncateFilter},
    FilterEntry{"wordcount", wordCount},
    FilterEntry{"string", string},
    FilterEntry{"tojson", toJson},
    FilterEntry{"pprint", prettyPrint},
};

}  // namespace

std::span<const FilterEntry> textFilters() {
    return kTextFilters;
}

}  // namespace quern::engine::jinja
