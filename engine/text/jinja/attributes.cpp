// How the Interpreter resolves attributes, subscripts and calls.
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/loop.h"
#include "engine/text/jinja/methods.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

/// A value's type as the messages of undefined values name it.
std::string objectName(const Value& value) {
    switch (value.kind()) {
        case Kind::kNone:
            return "None";
        case Kind::kText:
            return value.isMarkup() ? "markupsafe.Markup object" : "str object";
        case Kind::kNamespace:
        case Kind::kCycler:
        case Kind::kJoiner:
            return "jinja2.utils." + typeName(value) + " object";
        case Kind::kMacro:
        case Kind::kLoop:
            return "jinja2.runtime." + typeName(value) + " object";
        default:
            return typeName(value) + " object";
    }
}

std::string missing(const Value& object, const Value& key) {
    if (key.isText()) {
        return reprText(objectName(object)) + " has no attribute " + reprText(key.text());
    }
    return objectName(object) + " has no element " + toRepr(key);
}

bool isSpecial(std::string_view name) {
    return name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__";
}

std::optional<Value> macroAttribute(Heap& heap, const Macro& macro, std::string_view name) {
    if (name == "name") {
        return macro.node.name.empty() ? Value() : heap.text(macro.node.name);
    }
    if (name == "arguments") {
        std::vector<Value> names;
        for (const auto& parameter : macro.node.parameters) {
            names.push_back(heap.text(parameter.second));
        }
        return heap.tuple(std::move(names));
    }
    if (name == "catch_kwargs") {
        return Value(macro.node.usesKwargs);
    }
    if (name == "catch_varargs") {
        return Value(macro.node.usesVarargs);
    }
    if (name == "caller") {
        return Value(macro.node.usesCaller);
    }
    return std::nullopt;
}

/// Absent when `index` is out of range.
std::optional<Value> elementAt(Interpreter& interpreter, const Value& object, std::int64_t index) {
    const std::int64_t length = lengthOf(object);
    if (index < 0) {
        index += length;
    }
    if (index < 0 || index >= length) {
        return std::nullopt;
    }
    switch (object.kind()) {
        case Kind::kList:
        case Kind::kTuple:
            return object.as<Sequence>().items[static_cast<std::size_t>(index)];
        case Kind::kRange:
            return Value(object.as<Range>().start + index * object.as<Range>().step);
        default: {
            const Text& text = object.textObject();
            const auto at = static_cast<std::size_t>(index);
            interpreter.stepBytes(text.isAscii() ? 0 : at);
            const std::size_t from = text.isAscii() ? at : byteOffset(text.bytes, at);
            const std::size_t to = byteOffset(text.bytes, 1, from);
            return interpreter.heap().text(text.bytes.substr(from, to - from), text.isMarkup);
        }
    }
}

}  // namespace

std::optional<Value> Interpreter::ownAttribute(const Value& object, std::string_view name) {
    raiseIfUndefined(object);
    if (isSpecial(name)) {
        return m_heap.undefined("access to attribute " + reprText(name) + " of '" +
                                    typeName(object) + "' object is unsafe.",
                                "SecurityError");
    }
    std::optional<Value> found;
    switch (object.kind()) {
        case Kind::kNamespace:
            if (const Value* value = object.as<Namespace>().values.find(name)) {
                found = *value;
            }
            break;
        case Kind::kLoop:
            found = object.as<Loop>().attribute(m_heap, name);
            break;
        case Kind::kMacro:
            found = macroAttribute(m_heap, object.as<Macro>(), name);
            break;
        case Kind::kCycler:
            if (name == "current") {
                const auto& cycler = object.as<Cycler>();
                found = cycler.items[cycler.position];
            }
            break;
        case Kind::kTuple: {
            const auto& tuple = object.as<Sequence>();
            if (tuple.isGroup && (name == "grouper" || name == "list")) {
                found = tuple.items[name == "list" ? 1 : 0];
            }
            break;
        }
        default:
            break;
    }
    if (!found) {
        if (const MethodEntry* method = findMethod(object.kind(), name)) {
            found = Value(&m_heap.make<Method>(object, method->name, method->call));
        }
    }
    return found;
}

Value Interpreter::attribute(const Value& object, std::string_view name) {
    if (auto found = ownAttribute(object, name)) {
        return *found;
    }
    if (object.is(Kind::kDict)) {
        if (const Value* value = object.as<Dict>().find(name)) {
            return *value;
        }
    }
    return m_heap.undefined(missing(object, m_heap.text(std::string(name))));
}

Value Interpreter::attributeOnly(const Value& object, std::string_view name) {
    if (auto found = ownAttribute(object, name)) {
        return *found;
    }
    return m_heap.undefined(missing(object, m_heap.text(std::string(name))));
}

Value Interpreter::item(const Value& object, const Value& key) {
    raiseIfUndefined(object);
    const Kind kind = object.kind();
    if (kind == Kind::kDict) {
        const Kind keyKind = key.kind();
        const bool isHashable = keyKind != Kind::kList && keyKind != Kind::kDict;
        if (const Value* value = isHashable ? object.as<Dict>().find(key) : nullptr) {
            return *value;
        }
    } else if ((kind == Kind::kText || kind == Kind::kList || kind == Kind::kTuple ||
                kind == Kind::kRange) &&
               (key.is(Kind::kInt) || key.is(Kind::kBool))) {
        const std::int64_t index =
            key.is(Kind::kInt) ? key.integer() : static_cast<std::int64_t>(key.boolean());
        if (auto element = elementAt(*this, object, index)) {
            return *element;
        }
    }
    if (key.isText()) {
        if (auto found = ownAttribute(object, key.text())) {
            return *found;
        }
    }
    return m_heap.undefined(missing(object, key));
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
    const Nesting nesting(*this);
    step();
    switch (callee.kind()) {
        case Kind::kMacro:
            return callMacro(callee.as<Macro>(), arguments);
        case Kind::kFunction:
            return callee.as<Function>().call(*this, arguments);
        case Kind::kMethod: {
            const auto& method = callee.as<Method>();
            return method.call(*this, method.self, arguments);
        }
        case Kind::kLoop:
            return callLoop(callee.as<Loop>(), arguments);
        case Kind::kJoiner: {
            auto& joiner = callee.as<Joiner>();
            const bool isFirst = !std::exchange(joiner.wasUsed, true);
            return isFirst ? text({}) : joiner.separator;
        }
        default:
            raiseIfUndefined(callee);
            raiseType("'" + typeName(callee) + "' object is not callable");
    }
}

}  // namespace quern::engine::jinja
