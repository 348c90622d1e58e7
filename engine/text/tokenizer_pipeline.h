#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/text.h"
#include "engine/text/normalizer.h"
#include "engine/text/pretokenizer.h"
#include "engine/text/tokenizer_added_tokens.h"
#include "engine/text/tokenizer_decoder.h"
#include "engine/text/tokenizer_model.h"
#include "engine/text/tokenizer_vocabulary.h"

namespace quern::engine::text {

/// What stands around two texts that are one sequence.
struct PairParts {
    std::vector<TokenId> before;
    std::vector<TokenId> between;
    std::vector<TokenId> behind;
    bool hasSecondType = false;  // the second text and what follows are tokens of type 1
};

/// What a tokenizer is made of, whatever file describes it. Text passes the parts in this order.
struct TokenizerParts {
    std::unique_ptr<const Vocabulary> vocabulary;
    AddedTokenMatcher added;            // cut out first
    NormalizerPtr normalizer;           // null: none
    AddedTokenMatcher addedNormalized;  // cut out after normalizing
    std::vector<PreTokenizerPtr> preTokenizers;
    std::unique_ptr<const TokenModel> model;  // may borrow the vocabulary
    std::vector<TokenId> prefix;              // with addSpecial
    std::vector<TokenId> suffix;
    std::optional<PairParts> pair;  // absent: it knows no pairs
    TextDecoder decoder;
    /// Added tokens that are matched normalized decode to what they were matched by.
    std::unordered_map<TokenId, std::string> normalizedSpellings;
    /// Added tokens whose text is their spelling, whatever the decoder does to others.
    bool decodesAddedAsSpelled = false;
    SpecialTokens special;
    std::string description;
    bool addsSpacePrefix = false;
};

/// The parts must be whole: a vocabulary with its index built, and a model. kCorrupt when the
/// decoder makes tokens too long (mostGrownBytes).
[[nodiscard]] Result<std::shared_ptr<const Tokenizer>> makeTokenizer(TokenizerParts parts);

}  // namespace quern::engine::text
