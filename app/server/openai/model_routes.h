#pragma once

#include <functional>
#include <memory>

#include "app/server/http/exchange.h"
#include "engine/engine.h"

namespace quern::app {

/// The small answers about models and tokens. Each responds before it returns, but for tokenizing a
/// chat, which is prepared on the engine's pool.
[[nodiscard]] HttpResponse listModels(const engine::Engine& engine);
[[nodiscard]] HttpResponse describeModel(const engine::Engine& engine, const std::string& name);
/// POST /tokenize {model, prompt | messages, add_special_tokens}: ids and pieces.
[[nodiscard]] HttpResponse tokenize(const engine::Engine& engine, const std::string& body);
/// POST /detokenize {model, tokens}
[[nodiscard]] HttpResponse detokenize(const engine::Engine& engine, const std::string& body);
/// POST /apply-template {model, messages}: the exact prompt text.
[[nodiscard]] HttpResponse applyTemplate(const engine::Engine& engine, const std::string& body);

}  // namespace quern::app
