#pragma once

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// What the filters' `attribute` argument reaches from `item`: "address.city", "0.name" or an
/// integer. Where a step is undefined and `fallback` is not None, the fallback stands for it.
[[nodiscard]] Value attributePath(Interpreter& interpreter, const Value& item, const Value& path,
                                  const Value& fallback = Value());

/// Text in lower case, unless case counts; all else as it is.
[[nodiscard]] Value foldCase(Interpreter& interpreter, const Value& value, bool isCaseSensitive);

}  // namespace quern::engine::jinja
