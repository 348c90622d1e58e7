// Methods of list, tuple, dict and the language's own objects.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "engine/text/jinja/compare.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/loop.h"
#include "engine/text/jinja/methods.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/sorting.h"

namespace quern::engine::jinja {
namespace {

std::vector<Value>& itemsOf(const Value& self) {
    return self.as<Sequence>().items;
}

Value append(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("append", arguments, {"object"}, 1);
    interpreter.heap().take(sizeof(Value));
    itemsOf(self).push_back(given[0]);
    return {};
}

Value extend(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("extend", arguments, {"iterable"}, 1);
    for (Value& item : interpreter.itemsOf(given[0])) {
        itemsOf(self).push_back(std::move(item));
    }
    return {};
}

Value insert(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("insert", arguments, {"index", "object"}, 2);
    auto& items = itemsOf(self);
    const auto size = static_cast<std::int64_t>(items.size());
    std::int64_t index = given.integer(0, 0);
    index = std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
    interpreter.step(items.size() / 16);
    interpreter.heap().take(sizeof(Value));
    items.insert(items.begin() + index, given[1]);
    return {};
}

Value popItem(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("pop", arguments, {"index"});
    auto& items = itemsOf(self);
    if (items.empty()) {
        raise("IndexError", "pop from empty list");
    }
    const auto size = static_cast<std::int64_t>(items.size());
    std::int64_t index = given.integer(0, -1);
    index = index < 0 ? index + size : index;
    if (index < 0 || index >= size) {
        raise("IndexError", "pop index out of range");
    }
    interpreter.step(items.size() / 16);
    Value taken = items[static_cast<std::size_t>(index)];
    items.erase(items.begin() + index);
    return taken;
}

Value removeItem(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("remove", arguments, {"value"}, 1);
    auto& items = itemsOf(self);
    interpreter.step(items.size());
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const Value& item) { return isEqual(item, given[0]); });
    if (found == items.end()) {
        raiseValue("list.remove(x): x not in list");
    }
    items.erase(found);
    return {};
}

Value indexOf(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("index", arguments, {"value", "start", "stop"}, 1);
    const auto& items = itemsOf(self);
    const auto size = static_cast<std::int64_t>(items.size());
    const auto bound = [&](std::size_t i, std::int64_t otherwise) {
        const std::int64_t value = given.integer(i, otherwise);
        return std::clamp<std::int64_t>(value < 0 ? value + size : value, 0, size);
    };
    interpreter.step(items.size());
    const std::int64_t stop = bound(2, size);
    for (std::int64_t i = bound(1, 0); i < stop; ++i) {
        if (isEqual(items[static_cast<std::size_t>(i)], given[0])) {
            return Value(i);
        }
    }
    raiseValue(self.is(Kind::kTuple) ? "tuple.index(x): x not in tuple"
                                     : toRepr(given[0]) + " is not in list");
}

Value countItems(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("count", arguments, {"value"}, 1);
    const auto& items = itemsOf(self);
    interpreter.step(items.size());
    return Value(static_cast<std::int64_t>(std::count_if(
        items.begin(), items.end(), [&](const Value& item) { return isEqual(item, given[0]); })));
}

Value reverseItems(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("reverse", arguments, {});
    interpreter.step(itemsOf(self).size());
    std::reverse(itemsOf(self).begin(), itemsOf(self).end());
    return {};
}

Value sortItems(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("sort", arguments, {"key", "reverse"});
    std::vector<Value> keys = itemsOf(self);
    if (!given[0].isNone()) {
        for (Value& key : keys) {
            key = interpreter.call(given[0], Arguments{.positional = {key}, .named = {}});
        }
    }
    itemsOf(self) = sortedBy(interpreter, itemsOf(self), keys, given.isTrue(1, false));
    return {};
}

Value clearItems(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("clear", arguments, {});
    interpreter.step();
    itemsOf(self).clear();
    return {};
}

Value copyItems(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("copy", arguments, {});
    interpreter.step(itemsOf(self).size());
    return interpreter.heap().list(itemsOf(self));
}

Value get(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("get", arguments, {"key", "default"}, 1);
    interpreter.step();
    const Value* found = self.as<Dict>().find(given[0]);
    return found == nullptr ? given[1] : *found;
}

template <DictView::Part part>
Value view(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("dict view", arguments, {});
    return Value(&interpreter.heap().make<DictView>(self.as<Dict>(), part));
}

Value popKey(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("pop", arguments, {"key", "default"}, 1);
    auto& dict = self.as<Dict>();
    interpreter.step(dict.entries().size());
    if (const Value* found = dict.find(given[0])) {
        Value taken = *found;
        dict.erase(given[0]);
        return taken;
    }
    if (!given.has(1)) {
        raise("KeyError", toRepr(given[0]));
    }
    return given[1];
}

Value popEntry(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("popitem", arguments, {});
    auto& dict = self.as<Dict>();
    interpreter.step(dict.entries().size());
    if (dict.entries().empty()) {
        raise("KeyError", "'popitem(): dictionary is empty'");
    }
    const Dict::Entry last = dict.entries().back();
    dict.erase(last.first);
    return interpreter.heap().tuple({last.first, last.second});
}

Value setDefault(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("setdefault", arguments, {"key", "default"}, 1);
    auto& dict = self.as<Dict>();
    interpreter.step();
    if (const Value* found = dict.find(given[0])) {
        return *found;
    }
    interpreter.heap().take(sizeof(Dict::Entry));
    dict.set(given[0], given[1]);
    return given[1];
}

Value update(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    updateDict(interpreter, self.as<Dict>(), arguments);
    return {};
}

Value clearDict(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("clear", arguments, {});
    interpreter.step();
    self.as<Dict>().clear();
    return {};
}

Value copyDict(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("copy", arguments, {});
    auto& copy = interpreter.heap().make<Dict>();
    updateDict(interpreter, copy, Arguments{.positional = {self}, .named = {}});
    return Value(&copy);
}

Value cycleLoop(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    interpreter.step();
    if (arguments.positional.empty()) {
        raiseType("no items for cycling given");
    }
    const auto index = static_cast<std::size_t>(std::max<std::int64_t>(self.as<Loop>().index0, 0));
    return arguments.positional[index % arguments.positional.size()];
}

Value changedLoop(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    auto& loop = self.as<Loop>();
    const Value now = interpreter.heap().tuple(arguments.positional);
    const bool isChanged = !loop.lastChanged || !isEqual(*loop.lastChanged, now);
    loop.lastChanged = now;
    return Value(isChanged);
}

Value nextCycler(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("next", arguments, {});
    interpreter.step();
    auto& cycler = self.as<Cycler>();
    const Value current = cycler.items[cycler.position];
    cycler.position = (cycler.position + 1) % cycler.items.size();
    return current;
}

Value resetCycler(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("reset", arguments, {});
    interpreter.step();
    self.as<Cycler>().position = 0;
    return {};
}

Value isWhole(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("is_integer", arguments, {});
    interpreter.step();
    return Value(std::isfinite(self.number()) && std::trunc(self.number()) == self.number());
}

constexpr std::array kList = {
    MethodEntry{"append", append},     MethodEntry{"extend", extend},
    MethodEntry{"insert", insert},     MethodEntry{"pop", popItem},
    MethodEntry{"remove", removeItem}, MethodEntry{"index", indexOf},
    MethodEntry{"count", countItems},  MethodEntry{"reverse", reverseItems},
    MethodEntry{"sort", sortItems},    MethodEntry{"clear", clearItems},
    MethodEntry{"copy", copyItems},
};
constexpr std::array kTuple = {
    MethodEntry{"index", indexOf},
    MethodEntry{"count", countItems},
};
constexpr std::array kDict = {
    MethodEntry{"get", get},
    MethodEntry{"items", view<DictView::Part::kItems>},
    MethodEntry{"keys", view<DictView::Part::kKeys>},
    MethodEntry{"values", view<DictView::Part::kValues>},
    MethodEntry{"pop", popKey},
    MethodEntry{"popitem", popEntry},
    MethodEntry{"setdefault", setDefault},
    MethodEntry{"update", update},
    MethodEntry{"clear", clearDict},
    MethodEntry{"copy", copyDict},
};
constexpr std::array kLoop = {
    MethodEntry{"cycle", cycleLoop},
    MethodEntry{"changed", changedLoop},
};
constexpr std::array kCycler = {
    MethodEntry{"next", nextCycler},
    MethodEntry{"reset", resetCycler},
};
constexpr std::array kFloat = {
    MethodEntry{"is_integer", isWhole},
};

std::span<const MethodEntry> tableOf(Kind kind) {
    switch (kind) {
        case Kind::kList:
            return kList;
        case Kind::kTuple:
            return kTuple;
        case Kind::kDict:
            return kDict;
        case Kind::kLoop:
            return kLoop;
        case Kind::kCycler:
            return kCycler;
        case Kind::kFloat:
            return kFloat;
        default:
            return {};
    }
}

}  // namespace

const MethodEntry* findMethod(Kind kind, std::string_view name) {
    if (kind == Kind::kText) {
        return findTextMethod(name);
    }
    for (const MethodEntry& method : tableOf(kind)) {
        if (method.name == name) {
            return &method;
        }
    }
    return nullptr;
}

}  // namespace quern::engine::jinja
