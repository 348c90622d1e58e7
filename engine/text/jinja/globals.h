#pragma once

#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// The functions that every chat template finds: range, dict, namespace, cycler, joiner,
/// raise_exception and strftime_now. Null for other names.
[[nodiscard]] NativeFunction findGlobal(std::string_view name);

}  // namespace quern::engine::jinja
