#pragma once

#include <string_view>

namespace quern::engine {

/// What the reference's configuration class for `modelType` takes for a key that a config.json
/// leaves out, as text; empty when it takes nothing.
[[nodiscard]] std::string_view classDefault(std::string_view modelType, std::string_view key);

}  // namespace quern::engine
