#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/normalizer.h"

namespace quern::engine::text {

/// SentencePiece's compiled character map: a double-array trie of byte strings and what each
/// becomes. Layout: a little-endian u32 with the trie's size in bytes, the trie (u32 units), then
/// the replacements, each ended by a NUL. https://github.com/google/sentencepiece
class CharacterMap {
public:
    struct Match {
        std::size_t length = 0;  // bytes of the text that were matched
        std::string_view replacement;
    };

    /// kCorrupt where sizes do not fit; what is wrong inside shows as no match.
    [[nodiscard]] static Result<CharacterMap> create(std::string_view blob);

    [[nodiscard]] std::optional<Match> shortest(std::string_view text) const;
    [[nodiscard]] std::optional<Match> longest(std::string_view text) const;

private:
    [[nodiscard]] std::optional<Match> walk(std::string_view text, bool isShortest) const;

    std::vector<std::uint32_t> m_units;
    std::string m_replacements;
};

/// As tokenizer.json's "Precompiled" applies it: whole grapheme clusters first, then characters.
[[nodiscard]] NormalizerPtr makePrecompiled(CharacterMap map);

struct SentencePieceNormalizerOptions {
    std::optional<CharacterMap> map;
    bool addsSpacePrefix = true;
    bool collapsesSpaces = true;  // runs become one space, those at the ends go
};

/// As SentencePiece itself normalizes for Unigram: the longest match at each place; then spaces
/// become U+2581.
[[nodiscard]] NormalizerPtr makeSentencePieceNormalizer(SentencePieceNormalizerOptions options);

}  // namespace quern::engine::text
