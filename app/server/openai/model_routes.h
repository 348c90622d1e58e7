#pragma once

#include <functional>
#include <memory>

#include "app/server/http/exchange.h"
#include "engine/engine.h"

namespace quern::app {

/// GET /health and /ready: 200 when models are loaded and no other is to come; else 503, with a
/// stage and a percentage while one loads. No names: those are for whoever has a key.
[[nodiscard]] HttpResponse describeHealth(const engine::Engine& engine);
/// GET /v1/models: what is loaded, then what is loading.
[[nodiscard]] HttpResponse listModels(const engine::Engine& engine);
/// GET /v1/models/NAME
[[nodiscard]] HttpResponse describeModel(const engine::Engine& engine, const std::string& name);
/// POST /tokenize {model, prompt | messages, add_special_tokens}: ids and pieces.
[[nodiscard]] HttpResponse tokenize(const engine::Engine& engine, const std::string& body);
/// POST /detokenize {model, tokens}
[[nodiscard]] HttpResponse detokenize(const engine::Engine& engine, const std::string& body);
/// POST /apply-template {model, messages}: the exact prompt text.
[[nodiscard]] HttpResponse applyTemplate(const engine::Engine& engine, const std::string& body);

}  // namespace quern::app
