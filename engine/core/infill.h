#pragma once

#include <vector>

#include "engine/request.h"

namespace quern::engine {

/// The ids of a prompt to fill in the middle (Bavarian et al. 2022): prefix marker, prefix, suffix
/// marker, suffix, middle marker; for a model that marks no middle (Codestral) the suffix goes
/// first, so that the reply goes on where the prefix ends. BOS once where the model wants it.
/// kUnsupported when the model has no such markers. Any thread.
[[nodiscard]] Result<std::vector<TokenId>> infillIds(const Tokenizer& tokenizer,
                                                     const InfillPrompt& prompt);

}  // namespace quern::engine
