#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/text/tokenizer_model.h"

namespace quern::engine::text {

/// The mark that SentencePiece writes for a space: U+2581.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

/// SentencePiece's BPE: merges neighbours whose joined spelling is a token, the highest score
/// first; what is left over becomes byte tokens. `scores`: one a token. `vocabulary` must outlive
/// it. https://github.com/google/sentencepiece
[[nodiscard]] Result<std::unique_ptr<TokenModel>> makeSentencePieceBpe(
    const Vocabulary& vocabulary, const std::vector<float>& scores, std::optional<TokenId> unknown);

/// Cuts text before those space marks that no token reaches across: encoding the parts one by one
/// gives the same tokens, in less time.
class SpaceBorders {
public:
    explicit SpaceBorders(const Vocabulary& vocabulary);

    /// The end of the part of `text` that begins at `begin`.
    [[nodiscard]] std::size_t next(std::string_view text, std::size_t begin) const;

private:
    std::vector<char32_t> m_before;  // sorted: characters that stand before a mark in some token
};

}  // namespace quern::engine::text
