#pragma once

#include <string>

namespace quern::engine::text {

/// Unicode's White_Space.
[[nodiscard]] bool isWhitespace(char32_t c);
/// ASCII punctuation and symbols, and Unicode's P categories.
[[nodiscard]] bool isPunctuation(char32_t c);
/// Unicode's N categories.
[[nodiscard]] bool isNumeric(char32_t c);
/// Unicode's Mn: accents as characters of their own.
[[nodiscard]] bool isNonspacingMark(char32_t c);
/// Unicode's M categories.
[[nodiscard]] bool isMark(char32_t c);
/// Controls, formats, surrogates and private characters, as the tables of the reference have them:
/// what is not assigned is not among them.
[[nodiscard]] bool isOther(char32_t c);
/// What regular expressions call a word character (UTS 18: \w).
[[nodiscard]] bool isWordChar(char32_t c);
/// The CJK ideographs that BERT takes one by one. The reference leaves out U+2B820 to U+2B91F.
[[nodiscard]] bool isCjkIdeograph(char32_t c);
/// Appends the full lower case of `c` in UTF-8.
void appendLowercase(std::string& out, char32_t c);

}  // namespace quern::engine::text
