#pragma once

#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// A test of the language: `value is NAME`.
struct TestEntry {
    std::string_view name;
    bool (*apply)(Interpreter&, const Value& input, const Arguments&);
};

/// Null when there is no such test. The entry lives forever.
[[nodiscard]] const TestEntry* findTest(std::string_view name);

}  // namespace quern::engine::jinja
