#include "engine/text/jinja/sorting.h"

#include <algorithm>
#include <numeric>

#include "engine/text/jinja/compare.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {
namespace {

using Order = std::vector<std::size_t>;

/// Merge sort: unlike std::sort it stays in bounds when an order contradicts itself (NaN), and
/// unlike std::stable_sort it lets errors pass through without losing the count of work.
void mergeSort(Interpreter& interpreter, Order& order, Order& spare, std::size_t begin,
               std::size_t end, const std::vector<Value>& keys) {
    if (end - begin < 2) {
        return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    mergeSort(interpreter, order, spare, begin, middle, keys);
    mergeSort(interpreter, order, spare, middle, end, keys);
    std::size_t left = begin;
    std::size_t right = middle;
    for (std::size_t out = begin; out < end; ++out) {
        interpreter.step();
        const bool takesRight =
            left == middle || (right < end && isLess(keys[order[right]], keys[order[left]]));
        spare[out] = order[takesRight ? right++ : left++];
    }
    std::copy(spare.begin() + static_cast<std::ptrdiff_t>(begin),
              spare.begin() + static_cast<std::ptrdiff_t>(end),
              order.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

std::vector<Value> sortedBy(Interpreter& interpreter, const std::vector<Value>& items,
                            const std::vector<Value>& keys, bool isReverse) {
    Order order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (isReverse) {
        // Python's reverse sort keeps equal items in their order: reversed before and after.
        std::reverse(order.begin(), order.end());
    }
    Order spare(order.size());
    mergeSort(interpreter, order, spare, 0, order.size(), keys);
    if (isReverse) {
        std::reverse(order.begin(), order.end());
    }
    std::vector<Value> out;
    out.reserve(items.size());
    for (const std::size_t index : order) {
        out.push_back(items[index]);
    }
    return out;
}

void updateDict(Interpreter& interpreter, Dict& dict, const Arguments& arguments) {
    const auto put = [&](const Value& key, const Value& value) {
        interpreter.step();
        interpreter.heap().take(sizeof(Dict::Entry));
        dict.set(key, value);
    };
    if (arguments.positional.size() > 1) {
        raiseType("dict expected at most 1 argument, got " +
                  std::to_string(arguments.positional.size()));
    }
    if (!arguments.positional.empty()) {
        const Value& source = arguments.positional.front();
        if (source.is(Kind::kDict)) {
            const std::vector<Dict::Entry> entries = source.as<Dict>().entries();
            for (const auto& [key, value] : entries) {
                put(key, value);
            }
        } else {
            for (const Value& pair : interpreter.itemsOf(source)) {
                const std::vector<Value> two = interpreter.itemsOf(pair);
                if (two.size() != 2) {
                    raiseValue("dictionary update sequence element has length " +
                               std::to_string(two.size()) + "; 2 is required");
                }
                put(two[0], two[1]);
            }
        }
    }
    for (const auto& [name, value] : arguments.named) {
        put(interpreter.text(name), value);
    }
}

}  // namespace quern::engine::jinja
