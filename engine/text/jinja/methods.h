#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// A method of Python's built-in types that templates may call. Those that change lists and dicts
/// are among them, which the reference's sandbox forbids: some templates need them, and a value
/// lives no longer than its rendering.
struct MethodEntry {
    std::string_view name;
    NativeMethod call;
};

/// Null when values of this kind have no such method.
[[nodiscard]] const MethodEntry* findMethod(Kind kind, std::string_view name);

// The tables of each type.
[[nodiscard]] const MethodEntry* findTextMethod(std::string_view name);
[[nodiscard]] const MethodEntry* findTextSplitMethod(std::string_view name);

// What methods, filters and tests share.

/// Python's str.replace; a negative count replaces all.
[[nodiscard]] std::string replaceText(Interpreter& interpreter, std::string_view text,
                                      std::string_view old, std::string_view with,
                                      std::int64_t count);
/// Python's str.isupper and str.islower.
[[nodiscard]] bool isAllCased(std::string_view text, bool wantsUpper);
/// Python's str.splitlines.
[[nodiscard]] std::vector<std::string_view> splitLines(std::string_view text, bool keepsEnds);

}  // namespace quern::engine::jinja
