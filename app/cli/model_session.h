#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/cli/lora_flags.h"
#include "app/cli/model_flags.h"
#include "app/library/model_library.h"
#include "engine/engine.h"

namespace quern::cli {

/// An engine with one model loaded.
struct ModelSession {
    std::unique_ptr<engine::Engine> engine;
    std::shared_ptr<const engine::LoadedModel> model;
    std::string name;  // what requests ask for: the model's name, or its adapter's

    /// Finds the model, says on standard error what it decides (unless `isQuiet`) and loads it,
    /// with at most one adapter; with a pooling as a model that embeds.
    [[nodiscard]] static Result<ModelSession> open(const app::ModelLibrary& library,
                                                   const std::string& nameOrPath,
                                                   const ModelFlags& flags, bool isQuiet,
                                                   std::optional<engine::Pooling> pooling = {},
                                                   const LoraFlags& lora = {});
};

}  // namespace quern::cli
