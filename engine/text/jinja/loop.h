#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

struct ForNode;

/// The `loop` variable of one run of a for statement. Items are pulled one by one, at most one
/// ahead, as the reference does: a filter on the loop sees what the body changed.
struct Loop : Object {
    Loop(Cursor items, std::optional<std::int64_t> knownLength, std::int64_t nesting)
        : Object(Kind::kLoop), source(std::move(items)), length(knownLength), depth0(nesting) {}

    /// Moves to the next item; false at the end.
    bool advance();
    /// Looks one item ahead; null at the end.
    const Value* peek();
    /// Number of items; reads the rest of the source when it has no length of its own.
    std::int64_t count(Heap& heap);
    /// `loop.NAME` for plain values; absent when there is no such attribute.
    std::optional<Value> attribute(Heap& heap, std::string_view name);

    Cursor source;
    std::optional<std::int64_t> length;
    std::int64_t depth0;
    std::int64_t index0 = -1;
    Value current;
    Value before;
    std::optional<Value> after;
    std::vector<Value> rest;  // what count() had to read ahead
    std::optional<Value> lastChanged;
    const ForNode* recursive = nullptr;  // set for recursive loops: what calling it renders
    Scope* scope = nullptr;              // and where
};

}  // namespace quern::engine::jinja
