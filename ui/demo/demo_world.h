#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.h"

namespace quern::ui {

inline constexpr std::int64_t kDemoBlocks = 8192;
inline constexpr std::int64_t kDemoContext = 8192;  // tokens, of a model loaded without saying so
inline constexpr std::int64_t kFullDemoContext = 176;  // that the reply of a scene fills

/// One token for every four bytes: enough for meters.
[[nodiscard]] std::shared_ptr<const engine::Tokenizer> makeDemoTokenizer();
/// A model as a load with these options leaves it.
[[nodiscard]] std::shared_ptr<const engine::LoadedModel> demoModel(
    const engine::LoadOptions& options);
/// Runs of blocks as a busy afternoon leaves them: sequences, shared prefixes, cached and free.
[[nodiscard]] engine::KvMap demoMap();
/// Fourteen requests that run and three that wait.
[[nodiscard]] std::vector<engine::RequestSnapshot> demoRequests();

}  // namespace quern::ui
