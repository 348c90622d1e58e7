#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text.h"
#include "engine/text/tokenizer_trie.h"

namespace quern::engine::text {

/// A token that is cut out of the text before anything else looks at it.
struct AddedToken {
    TokenId id = -1;
    std::string content;
    bool isSpecial = false;     // only matches where special tokens are parsed
    bool isSingleWord = false;  // not inside a word
    bool stripsLeft = false;    // takes the white space before it
    bool stripsRight = false;   // takes the white space after it
    bool isNormalized = false;  // matches normalized text, and itself normalized
};

/// A part of a text: a token, or (id < 0) text still to be encoded.
struct TextSegment {
    TokenId id = -1;
    std::string_view text;
};

/// Finds added tokens: leftmost first, and of those that begin at one place the longest.
/// Immutable; any thread.
class AddedTokenMatcher {
public:
    AddedTokenMatcher() = default;
    explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

    /// Cuts `text` (valid UTF-8) into segments, which borrow from it. There are no empty ones.
    [[nodiscard]] std::vector<TextSegment> split(std::string_view text, bool parseSpecial) const;

private:
    [[nodiscard]] std::int32_t longestAt(std::string_view text, std::size_t position,
                                         bool parseSpecial) const;

    std::vector<AddedToken> m_tokens;
    ByteTrie m_trie;  // values: indices into m_tokens
};

}  // namespace quern::engine::text
