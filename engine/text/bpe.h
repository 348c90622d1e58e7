#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/tokenizer_model.h"

namespace quern::engine::text {

struct BpeOptions {
    /// In order; borrowed while the model is made.
    std::vector<std::pair<std::string_view, std::string_view>> merges;
    std::optional<TokenId> unknown;
    bool fusesUnknown = false;     // a run of unknown characters is one token
    bool hasByteTokens = false;    // characters without a token become "<0x0A>" tokens
    bool ignoresMerges = false;    // a piece that is itself a token is not merged
    std::string continuingPrefix;  // before every character of a piece but the first
    std::string endSuffix;         // after the last one
    /// Of a merge that is listed twice: the last rank holds (tokenizer.json) or the first (GGUF).
    bool lastRankHolds = false;
};

/// Byte pair encoding: merges neighbours by the rank of their merge. `vocabulary` must outlive it.
/// A merge whose result is no token is carried out all the same; what is left of it at the end
/// falls apart into its characters.
[[nodiscard]] Result<std::unique_ptr<TokenModel>> makeBpe(const Vocabulary& vocabulary,
                                                          const BpeOptions& options);

}  // namespace quern::engine::text
