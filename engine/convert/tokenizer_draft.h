#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/text.h"
#include "engine/text/tokenizer_data.h"

namespace quern::engine::convert {

/// A tokenizer as GGUF's keys describe it, with the texts that its views point into.
struct TokenizerDraft {
    std::vector<std::string> tokens;
    std::vector<std::string> merges;
    std::string characterMap;
    text::TokenizerData data;  // views into the above

    TokenizerDraft() = default;
    TokenizerDraft(const TokenizerDraft&) = delete;
    TokenizerDraft& operator=(const TokenizerDraft&) = delete;
};

/// The ways in which GGUF's keys might describe a tokenizer.json, most likely first; none where
/// there is no such model. Whether one tells the truth, its tokens have to show. `rows` of the
/// embedding table: tokens are made up for rows that have none. `reference`: the same tokenizer as
/// it was read, which knows the roles of tokens.
[[nodiscard]] std::vector<std::unique_ptr<TokenizerDraft>> draftTokenizers(
    const nlohmann::json& root, const Tokenizer& reference, std::int64_t rows);

}  // namespace quern::engine::convert
