#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// JSON text to values: objects keep their order, integers of any size stay integers. Raises
/// Failure (JSONDecodeError) that says what is wrong and where.
[[nodiscard]] Value parseJson(Heap& heap, std::string_view text);

struct JsonStyle {
    bool ensureAscii = false;
    bool sortKeys = false;
    std::optional<std::string> indent;
    std::string itemSeparator = ", ";
    std::string keySeparator = ": ";
};

/// Python's json.dumps, which is what the templates' tojson is. Raises TypeError for values that
/// JSON has no form for.
[[nodiscard]] std::string dumpJson(const Value& value, const JsonStyle& style);

}  // namespace quern::engine::jinja
