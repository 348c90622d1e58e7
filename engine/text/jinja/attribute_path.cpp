#include "engine/text/jinja/attribute_path.h"

#include <algorithm>

#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {

Value attributePath(Interpreter& interpreter, const Value& item, const Value& path,
                    const Value& fallback) {
    interpreter.step();
    const auto reach = [&](const Value& from, const Value& key) {
        Value found = interpreter.item(from, key);
        return found.isUndefined() && !fallback.isNone() ? fallback : found;
    };
    if (path.isNone()) {
        return item;
    }
    if (!path.isText()) {
        return reach(item, path);
    }
    Value at = item;
    std::string_view rest = path.text();
    while (true) {
        const std::size_t dot = std::min(rest.find('.'), rest.size());
        const std::string_view part = rest.substr(0, dot);
        const bool isIndex = !part.empty() && part.size() < 10 &&
                             part.find_first_not_of("0123456789") == std::string_view::npos;
        at = reach(at, isIndex ? Value(parseInteger(part, 10).value_or(0))
                               : interpreter.text(std::string(part)));
        if (dot == rest.size()) {
            return at;
        }
        rest.remove_prefix(dot + 1);
    }
}

Value foldCase(Interpreter& interpreter, const Value& value, bool isCaseSensitive) {
    if (isCaseSensitive || !value.isText()) {
        return value;
    }
    return interpreter.text(toLower(value.text()));
}

}  // namespace quern::engine::jinja
