#include "engine/text/jinja/loop.h"

namespace quern::engine::jinja {

bool Loop::advance() {
    Value next;
    if (after) {
        next = *after;
        after.reset();
    } else if (!source(next)) {
        return false;
    }
    ++index0;
    before = std::exchange(current, std::move(next));
    return true;
}

const Value* Loop::peek() {
    if (!after) {
        Value next;
        if (!source(next)) {
            return nullptr;
        }
        after = std::move(next);
    }
    return &*after;
}

std::int64_t Loop::count(Heap& heap) {
    if (!length) {
        Value item;
        while (source(item)) {
            heap.take(sizeof(Value));
            rest.push_back(item);
        }
        source = [this, at = std::size_t{0}](Value& out) mutable {
            if (at == rest.size()) {
                return false;
            }
            out = rest[at++];
            return true;
        };
        length = static_cast<std::int64_t>(rest.size()) + index0 + 1 + (after ? 1 : 0);
    }
    return *length;
}

std::optional<Value> Loop::attribute(Heap& heap, std::string_view name) {
    if (name == "index0") {
        return Value(index0);
    }
    if (name == "index") {
        return Value(index0 + 1);
    }
    if (name == "first") {
        return Value(index0 == 0);
    }
    if (name == "last") {
        return Value(peek() == nullptr);
    }
    if (name == "length") {
        return Value(count(heap));
    }
    if (name == "revindex") {
        return Value(count(heap) - index0);
    }
    if (name == "revindex0") {
        return Value(count(heap) - index0 - 1);
    }
    if (name == "depth") {
        return Value(depth0 + 1);
    }
    if (name == "depth0") {
        return Value(depth0);
    }
    if (name == "previtem") {
        return index0 == 0 ? heap.undefined("there is no previous item") : before;
    }
    if (name == "nextitem") {
        const Value* next = peek();
        return next == nullptr ? heap.undefined("there is no next item") : *next;
    }
    return std::nullopt;
}

}  // namespace quern::engine::jinja
