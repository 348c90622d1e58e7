// Filters that compare items with each other.
#include <algorithm>
#include <array>

#include "engine/text/jinja/attribute_path.h"
#include "engine/text/jinja/compare.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/sorting.h"

namespace quern::engine::jinja {
namespace {

/// The key of `sort`: a list, with one value for each of the comma-separated attributes.
Value multiKey(Interpreter& interpreter, const Value& item, const Value& attribute,
               bool isCaseSensitive) {
    std::vector<Value> parts;
    if (!attribute.isText()) {
        parts.push_back(attributePath(interpreter, item, attribute));
    } else {
        std::string_view rest = attribute.text();
        while (true) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            parts.push_back(attributePath(interpreter, item,
                                          interpreter.text(std::string(rest.substr(0, comma)))));
            if (comma == rest.size()) {
                break;
            }
            rest.remove_prefix(comma + 1);
        }
    }
    for (Value& part : parts) {
        part = foldCase(interpreter, part, isCaseSensitive);
    }
    return interpreter.heap().list(std::move(parts));
}

Value sort(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("sort", arguments, {"reverse", "case_sensitive", "attribute"});
    const std::vector<Value> items = interpreter.itemsOf(input);
    std::vector<Value> keys;
    keys.reserve(items.size());
    for (const Value& item : items) {
        keys.push_back(multiKey(interpreter, item, given[2], given.isTrue(1, false)));
    }
    return interpreter.heap().list(sortedBy(interpreter, items, keys, given.isTrue(0, false)));
}

Value dictSort(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("dictsort", arguments, {"case_sensitive", "by", "reverse"});
    raiseIfUndefined(input);
    const std::string_view by = given.text(1, "key");
    if (by != "key" && by != "value") {
        raise("FilterArgumentError", "You can only sort by either \"key\" or \"value\"");
    }
    if (!input.is(Kind::kDict)) {
        raise("AttributeError", "'" + typeName(input) + "' object has no attribute 'items'");
    }
    std::vector<Value> pairs;
    std::vector<Value> keys;
    for (const auto& entry : input.as<Dict>().entries()) {
        pairs.push_back(viewItem(interpreter.heap(), DictView::Part::kItems, entry));
        keys.push_back(foldCase(interpreter, by == "key" ? entry.first : entry.second,
                                given.isTrue(0, false)));
    }
    return interpreter.heap().list(sortedBy(interpreter, pairs, keys, given.isTrue(2, false)));
}

Value unique(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("unique", arguments, {"case_sensitive", "attribute"});
    auto& seen = interpreter.heap().make<Dict>();
    const bool isCaseSensitive = given.isTrue(0, false);
    const Value& attribute = given[1];
    Cursor source = iterate(interpreter.heap(), input);
    return Value(&interpreter.heap().make<Iterator>(
        [&interpreter, &seen, isCaseSensitive, attribute, from = std::move(source)](Value& out) {
            while (from(out)) {
                const Value key = foldCase(interpreter, attributePath(interpreter, out, attribute),
                                           isCaseSensitive);
                if (seen.find(key) == nullptr) {
                    interpreter.heap().take(sizeof(Dict::Entry));
                    seen.set(key, Value());
                    return true;
                }
            }
            return false;
        },
        "generator"));
}

template <bool wantsLargest>
Value extreme(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given(wantsLargest ? "max" : "min", arguments,
                           {"case_sensitive", "attribute"});
    const std::vector<Value> items = interpreter.itemsOf(input);
    if (items.empty()) {
        return interpreter.heap().undefined("No aggregated item, sequence was empty.");
    }
    const auto keyOf = [&](const Value& item) {
        return foldCase(interpreter, attributePath(interpreter, item, given[1]),
                        given.isTrue(0, false));
    };
    std::size_t best = 0;
    Value bestKey = keyOf(items[0]);
    for (std::size_t i = 1; i < items.size(); ++i) {
        Value key = keyOf(items[i]);
        const bool isBetter = wantsLargest
                                  ? order(key, bestKey, ">") == std::partial_ordering::greater
                                  : order(key, bestKey, "<") == std::partial_ordering::less;
        if (isBetter) {
            best = i;
            bestKey = std::move(key);
        }
    }
    return items[best];
}

Value groupBy(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
    const bool isCaseSensitive = given.isTrue(2, false);
    const auto keyOf = [&](const Value& item) {
        return attributePath(interpreter, item, given[0], given[1]);
    };
    const std::vector<Value> items = interpreter.itemsOf(input);
    std::vector<Value> keys;
    keys.reserve(items.size());
    for (const Value& item : items) {
        keys.push_back(foldCase(interpreter, keyOf(item), isCaseSensitive));
    }
    std::vector<Value> groups;
    Value groupKey;
    for (const Value& item : sortedBy(interpreter, items, keys, false)) {
        const Value key = keyOf(item);
        const Value folded = foldCase(interpreter, key, isCaseSensitive);
        if (groups.empty() || !isEqual(groupKey, folded)) {
            Value group = interpreter.heap().tuple({key, interpreter.heap().list({})});
            group.as<Sequence>().isGroup = true;
            groups.push_back(std::move(group));
            groupKey = folded;
        }
        interpreter.heap().take(sizeof(Value));
        groups.back().as<Sequence>().items[1].as<Sequence>().items.push_back(item);
    }
    return interpreter.heap().list(std::move(groups));
}

constexpr std::array kOrderFilters = {
    FilterEntry{"sort", sort},         FilterEntry{"dictsort", dictSort},
    FilterEntry{"unique", unique},     FilterEntry{"min", extreme<false>},
    FilterEntry{"max", extreme<true>}, FilterEntry{"groupby", groupBy},
};

}  // namespace

std::span<const FilterEntry> orderFilters() {
    return kOrderFilters;
}

}  // namespace quern::engine::jinja
