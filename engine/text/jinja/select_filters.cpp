// Filters that apply a filter or a test to each item. They are lazy, as generators are.
#include <array>

#include "engine/text/jinja/attribute_path.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {
namespace {

std::string nameOf(const Value& value) {
    if (!value.isText()) {
        raiseType("a filter or test is given by its name, not by " + typeName(value));
    }
    return std::string(value.text());
}

/// The items of `input`, looked for when the first is asked for; none of what is false.
Cursor lazyItems(Interpreter& interpreter, const Value& input) {
    return [&interpreter, input, cursor = Cursor()](Value& out) mutable {
        if (!cursor) {
            cursor = isTrue(input) ? iterate(interpreter.heap(), input)
                                   : Cursor([](Value&) { return false; });
        }
        return cursor(out);
    };
}

Value lazily(Interpreter& interpreter, Cursor cursor) {
    return Value(&interpreter.heap().make<Iterator>(std::move(cursor), "generator"));
}

Value map(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    Cursor source = lazyItems(interpreter, input);
    if (arguments.positional.empty()) {
        Value attribute;
        Value fallback;
        for (const auto& [name, value] : arguments.named) {
            if (name == "attribute") {
                attribute = value;
            } else if (name == "default") {
                fallback = value;
            } else {
                raise("FilterArgumentError", "Unexpected keyword argument '" + name + "'");
            }
        }
        if (attribute.isNone()) {
            raise("FilterArgumentError", "map requires a filter argument");
        }
        return lazily(interpreter,
                      [&interpreter, attribute, fallback, from = std::move(source)](Value& out) {
                          if (!from(out)) {
                              return false;
                          }
                          out = attributePath(interpreter, out, attribute, fallback);
                          return true;
                      });
    }
    Arguments rest = arguments;
    rest.positional.erase(rest.positional.begin());
    return lazily(interpreter, [&interpreter, name = nameOf(arguments.positional.front()),
                                rest = std::move(rest), from = std::move(source)](Value& out) {
        if (!from(out)) {
            return false;
        }
        out = interpreter.applyFilter(name, out, rest);
        return true;
    });
}

template <bool keepsMatches, bool looksAtAttribute>
Value select(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    constexpr std::size_t kOffset = looksAtAttribute ? 1 : 0;
    Value attribute;
    if (looksAtAttribute) {
        if (arguments.positional.empty()) {
            raise("FilterArgumentError", "Missing parameter for attribute name");
        }
        attribute = arguments.positional.front();
    }
    std::string test;
    Arguments rest;
    if (arguments.positional.size() > kOffset) {
        test = nameOf(arguments.positional[kOffset]);
        rest = arguments;
        rest.positional.erase(rest.positional.begin(),
                              rest.positional.begin() + static_cast<std::ptrdiff_t>(kOffset) + 1);
    }
    return lazily(interpreter, [&interpreter, attribute, test, rest = std::move(rest),
                                from = lazyItems(interpreter, input)](Value& out) {
        while (from(out)) {
            interpreter.step();
            const Value looked = attributePath(interpreter, out, attribute);
            const bool matches =
                test.empty() ? isTrue(looked) : interpreter.applyTest(test, looked, rest);
            if (matches == keepsMatches) {
                return true;
            }
        }
        return false;
    });
}

constexpr std::array kSelectFilters = {
    FilterEntry{"map", map},
    FilterEntry{"select", select<true, false>},
    FilterEntry{"reject", select<false, false>},
    FilterEntry{"selectattr", select<true, true>},
    FilterEntry{"rejectattr", select<false, true>},
};

}  // namespace

std::span<const FilterEntry> selectFilters() {
    return kSelectFilters;
}

}  // namespace quern::engine::jinja
