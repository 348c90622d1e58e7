#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/model_info.h"
#include "kernels/result.h"

namespace quern::engine {

/// What sentence-transformers wrote beside a model: how its hidden states become a vector.
struct SentenceModules {
    Pooling pooling = Pooling::kMean;
    bool isNormalized = false;
    std::int64_t mostTokens = 0;  // what its texts are cut to; 0: not said
};

/// Reads modules.json and the configs that it names; absent where the folder has none.
/// kUnsupported names a module or a pooling that is not here: without it vectors would be others.
[[nodiscard]] Result<std::optional<SentenceModules>> readSentenceModules(
    const std::filesystem::path& folder);

}  // namespace quern::engine
