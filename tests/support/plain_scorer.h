#pragma once

#include <memory>

#include "engine/exec/runner.h"
#include "engine/score.h"

namespace quern::test {

/// A Scorer without a scheduler: one sequence at a time on a Runner, `chunk` tokens a step, blocks
/// in order, nothing shared. What the engine's own Scorer must equal bit for bit. `batch` puts
/// copies of other lengths beside the sequence; `prefix` is not its business and is refused.
[[nodiscard]] Result<std::unique_ptr<engine::Scorer>> makePlainScorer(
    const std::filesystem::path& model, const engine::ScoreOptions& options);

}  // namespace quern::test
