#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/text/tokenizer_model.h"

namespace quern::engine::text {

struct UnigramOptions {
    std::vector<double> scores;  // log probabilities, one a token
    std::optional<TokenId> unknown;
    bool hasByteTokens = false;
};

/// The Unigram language model: of all ways to spell a piece with tokens the most likely one; a
/// character that no token spells costs ten more than the least likely token, and a run of such is
/// one unknown token. `vocabulary` must outlive it.
[[nodiscard]] std::unique_ptr<TokenModel> makeUnigram(const Vocabulary& vocabulary,
                                                      UnigramOptions options);

}  // namespace quern::engine::text
