#pragma once

#include <vector>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// `items` in the stable order of `keys`, which has one for each. Raises TypeError for keys that
/// have no order.
[[nodiscard]] std::vector<Value> sortedBy(Interpreter& interpreter, const std::vector<Value>& items,
                                          const std::vector<Value>& keys, bool isReverse);

/// Python's dict.update(positional, **named): from a mapping or from pairs.
void updateDict(Interpreter& interpreter, Dict& dict, const Arguments& arguments);

}  // namespace quern::engine::jinja
