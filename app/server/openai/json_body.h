#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "app/server/openai/api_error.h"
#include "kernels/result.h"

namespace quern::app {

/// A request's body, which must be a JSON object. Refused besides: what is nested so deep that
/// walking it would need more stack than there is, and objects with so many members that keeping
/// their order (each name is looked for among those before it) would hold the caller up.
[[nodiscard]] tl::expected<nlohmann::ordered_json, ApiError> parseBody(const std::string& body);

}  // namespace quern::app
