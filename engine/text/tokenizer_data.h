#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text.h"
#include "engine/text/tokenizer_vocabulary.h"

namespace quern::engine::text {

/// A tokenizer as GGUF's `tokenizer.ggml.*` keys describe it. Views are borrowed while the
/// tokenizer is made.
struct TokenizerData {
    std::string model;         // tokenizer.ggml.model
    std::string pre;           // tokenizer.ggml.pre
    std::string architecture;  // general.architecture
    std::string name;          // general.name
    std::vector<std::string_view> tokens;
    std::vector<float> scores;     // one a token, or none
    std::vector<TokenKind> kinds;  // one a token, or none
    std::vector<std::string_view> merges;
    std::string_view characterMap;  // tokenizer.ggml.precompiled_charsmap

    std::optional<TokenId> bos;
    std::optional<TokenId> eos;
    std::optional<TokenId> endOfTurn;
    std::optional<TokenId> endOfMessage;
    std::optional<TokenId> unknown;
    std::optional<TokenId> separator;
    std::optional<TokenId> padding;
    std::optional<TokenId> classify;
    std::optional<TokenId> mask;
    std::optional<TokenId> fimPrefix;
    std::optional<TokenId> fimSuffix;
    std::optional<TokenId> fimMiddle;

    std::optional<bool> addsBos;
    std::optional<bool> addsEos;
    std::optional<bool> addsSeparator;
    std::optional<bool> addsSpacePrefix;
    std::optional<bool> removesExtraWhitespaces;
};

/// kUnsupported names the model or the splitter; kCorrupt the key that does not fit.
[[nodiscard]] Result<std::shared_ptr<const Tokenizer>> makeGgufTokenizer(const TokenizerData& data);

/// The tokens with a role that `data` names and `vocabulary` has, and those known by spelling.
[[nodiscard]] SpecialTokens rolesOf(const TokenizerData& data, const Vocabulary& vocabulary);

/// Which tokens end a reply, fill in the middle…: what the file names, and control tokens that are
/// known by their spelling.
void recognizeSpecialTokens(const Vocabulary& vocabulary, SpecialTokens& special);

}  // namespace quern::engine::text
