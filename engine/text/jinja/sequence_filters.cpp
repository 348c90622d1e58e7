// Filters that look at sequences as wholes.
#include <algorithm>
#include <array>
#include <random>

#include "engine/text/jinja/attribute_path.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {
namespace {

Value generator(Interpreter& interpreter, std::vector<Value> items, const char* type) {
    interpreter.heap().take(items.size() * sizeof(Value));
    return Value(&interpreter.heap().make<Iterator>(
        [held = std::move(items), at = std::size_t{0}](Value& out) mutable {
            if (at == held.size()) {
                return false;
            }
            out = held[at++];
            return true;
        },
        type));
}

Value length(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("length", arguments, {});
    interpreter.step();
    return Value(lengthOf(input));
}

Value first(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("first", arguments, {});
    Value item;
    if (iterate(interpreter.heap(), input)(item)) {
        return item;
    }
    return interpreter.heap().undefined("No first item, sequence was empty.");
}

Value last(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("last", arguments, {});
    if (!hasLength(input)) {
        raiseType("'" + typeName(input) + "' object is not reversible");
    }
    if (lengthOf(input) == 0) {
        return interpreter.heap().undefined("No last item, sequence was empty.");
    }
    if (input.is(Kind::kDict) || input.is(Kind::kDictView)) {
        return interpreter.itemsOf(input).back();
    }
    return interpreter.item(input, Value(std::int64_t{-1}));
}

Value random(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("random", arguments, {});
    const std::int64_t count = lengthOf(input);
    if (count == 0) {
        return interpreter.heap().undefined("No random item, sequence was empty.");
    }
    std::random_device device;
    return interpreter.item(
        input, Value(std::uniform_int_distribution<std::int64_t>(0, count - 1)(device)));
}

Value list(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("list", arguments, {});
    return interpreter.heap().list(interpreter.itemsOf(input));
}

Value items(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("items", arguments, {});
    if (!input.is(Kind::kDict) && !input.isUndefined()) {
        raiseType("Can only get item pairs from a mapping.");
    }
    std::vector<Value> pairs;
    if (input.is(Kind::kDict)) {
        for (const auto& entry : input.as<Dict>().entries()) {
            interpreter.step();
            pairs.push_back(viewItem(interpreter.heap(), DictView::Part::kItems, entry));
        }
    }
    return generator(interpreter, std::move(pairs), "generator");
}

Value join(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("join", arguments, {"d", "attribute"});
    const std::string separator = given.has(0) ? toText(given[0]) : std::string();
    std::string out;
    bool isFirst = true;
    for (const Value& item : interpreter.itemsOf(input)) {
        const Value shown = given[1].isNone() ? item : attributePath(interpreter, item, given[1]);
        const std::string text = toText(shown);
        interpreter.stepBytes(text.size() + separator.size());
        out += isFirst ? "" : separator;
        out += text;
        interpreter.checkSize(out.size());
        isFirst = false;
    }
    return interpreter.text(std::move(out));
}

Value reverse(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("reverse", arguments, {});
    if (input.isText()) {
        const Value step(std::int64_t{-1});
        return sliceOf(interpreter, input, Value(), Value(), step);
    }
    if (!isIterable(input)) {
        raise("FilterArgumentError", "argument must be iterable");
    }
    std::vector<Value> reversed = interpreter.itemsOf(input);
    std::reverse(reversed.begin(), reversed.end());
    if (input.is(Kind::kIterator)) {
        return interpreter.heap().list(std::move(reversed));
    }
    return generator(interpreter, std::move(reversed),
                     input.is(Kind::kList) ? "list_reverseiterator" : "reversed");
}

Value batch(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("batch", arguments, {"linecount", "fill_with"}, 1);
    const std::int64_t size = given.integer(0, 1);
    std::vector<Value> rows;
    std::vector<Value> row;
    for (const Value& item : interpreter.itemsOf(input)) {
        if (static_cast<std::int64_t>(row.size()) == size) {
            rows.push_back(interpreter.heap().list(std::move(row)));
            row.clear();
        }
        row.push_back(item);
    }
    if (!row.empty()) {
        while (!given[1].isNone() && static_cast<std::int64_t>(row.size()) < size) {
            interpreter.step();
            interpreter.heap().take(sizeof(Value));
            row.push_back(given[1]);
        }
        rows.push_back(interpreter.heap().list(std::move(row)));
    }
    return generator(interpreter, std::move(rows), "generator");
}

Value slice(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("slice", arguments, {"slices", "fill_with"}, 1);
    const std::vector<Value> all = interpreter.itemsOf(input);
    const std::int64_t count = given.integer(0, 1);
    if (count == 0) {
        raise("ZeroDivisionError", "integer division or modulo by zero");
    }
    const auto size = static_cast<std::int64_t>(all.size());
    const std::int64_t base = count > 0 ? size / count : 0;
    const std::int64_t larger = count > 0 ? size % count : 0;
    std::vector<Value> columns;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        interpreter.step();
        const std::int64_t take = base + (i < larger ? 1 : 0);
        std::vector<Value> column(all.begin() + at, all.begin() + at + take);
        at += take;
        if (!given[1].isNone() && i >= larger) {
            column.push_back(given[1]);
        }
        columns.push_back(interpreter.heap().list(std::move(column)));
    }
    return generator(interpreter, std::move(columns), "generator");
}

Value fallback(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("default", arguments, {"default_value", "boolean"});
    if (input.isUndefined() || (given.isTrue(1, false) && !isTrue(input))) {
        return given.has(0) ? given[0] : interpreter.text({});
    }
    return input;
}

Value attr(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("attr", arguments, {"name"}, 1);
    raiseIfUndefined(input);
    const std::string_view name = given.text(0, "");
    return interpreter.attributeOnly(input, name);
}

constexpr std::array kSequenceFilters = {
    FilterEntry{"length", length},    FilterEntry{"count", length},
    FilterEntry{"first", first},      FilterEntry{"last", last},
    FilterEntry{"list", list},        FilterEntry{"items", items},
    FilterEntry{"join", join},        FilterEntry{"batch", batch},
    FilterEntry{"reverse", reverse},  FilterEntry{"slice", slice},
    FilterEntry{"attr", attr},        FilterEntry{"d", fallback},
    FilterEntry{"default", fallback}, FilterEntry{"random", random},
};

}  // namespace

std::span<const FilterEntry> sequenceFilters() {
    return kSequenceFilters;
}

}  // namespace quern::engine::jinja
