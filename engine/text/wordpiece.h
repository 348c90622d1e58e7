#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "engine/text/tokenizer_model.h"

namespace quern::engine::text {

struct WordPieceOptions {
    std::string firstPrefix;       // before a word's first token; GGUF writes U+2581
    std::string continuingPrefix;  // before its others; tokenizer.json writes "##"
    std::size_t longestWord = static_cast<std::size_t>(-1);  // characters; longer ones are unknown
    std::optional<TokenId> unknown;
};

/// BERT's WordPiece: from the left, always the longest token that fits; a word that cannot be
/// spelled to its end is one unknown token. `vocabulary` must outlive it.
[[nodiscard]] std::unique_ptr<TokenModel> makeWordPiece(const Vocabulary& vocabulary,
                                                        WordPieceOptions options);

/// Whole pieces only, else the unknown token.
[[nodiscard]] std::unique_ptr<TokenModel> makeWordLevel(const Vocabulary& vocabulary,
                                                        std::optional<TokenId> unknown);

}  // namespace quern::engine::text
