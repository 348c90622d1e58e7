#pragma once

#include <memory>
#include <string>

#include "app/cli/model_flags.h"
#include "app/library/model_library.h"
#include "engine/engine.h"

namespace quern::cli {

/// An engine with one model loaded.
struct ModelSession {
    std::unique_ptr<engine::Engine> engine;
    std::shared_ptr<const engine::LoadedModel> model;

    /// Finds the model, says on standard error what it decides (unless `isQuiet`) and loads it.
    [[nodiscard]] static Result<ModelSession> open(const app::ModelLibrary& library,
                                                   const std::string& nameOrPath,
                                                   const ModelFlags& flags, bool isQuiet);
};

/// "42.3 tok/s · 318 tok · TTFT 212 ms · prefix hit 91 % · stop: eos"
[[nodiscard]] std::string figuresLine(double tokensPerSecond, std::int64_t tokens, double ttftMs,
                                      std::int64_t promptTokens, std::int64_t cachedTokens,
                                      const std::string& stop);
[[nodiscard]] std::string replyLine(const engine::FinishInfo& finish);

/// Text for a terminal: control characters that could move its cursor or change it are made
/// visible.
[[nodiscard]] std::string withoutTerminalControls(const std::string& text);

}  // namespace quern::cli
