#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/reply_parser.h"

namespace quern::engine {

/// How a model is told to call tools that its chat template has no place for.
inline constexpr CallDialect kTextToolsDialect = CallDialect::kHermes;

/// The same chat without a tool in it that only a template could say: the tools stand in the system
/// message, calls in the text of the replies that made them, results in messages of the user.
/// `messages` is an array of objects as renderPrompt() makes them.
[[nodiscard]] nlohmann::ordered_json withToolsAsText(nlohmann::ordered_json messages,
                                                     const std::string& tools);

}  // namespace quern::engine
