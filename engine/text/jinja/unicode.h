#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/text/append_utf8.h"

namespace quern::engine::jinja {

/// Text as Python sees it: a sequence of code points, kept here as valid UTF-8. All functions want
/// valid UTF-8 and never read past the end on anything else. Indices count code points.

/// The byte where the first invalid sequence begins; absent when `text` is valid.
[[nodiscard]] std::optional<std::size_t> findInvalidUtf8(std::string_view text);
[[nodiscard]] std::size_t countCodePoints(std::string_view text);
/// Decodes the code point at byte `pos` and moves `pos` behind it.
[[nodiscard]] char32_t nextCodePoint(std::string_view text, std::size_t& pos);
[[nodiscard]] std::u32string toCodePoints(std::string_view text);
[[nodiscard]] std::string toUtf8(std::u32string_view codePoints);
/// Byte offset of code point `index`, counted from byte `from`; the size when it is past the end.
[[nodiscard]] std::size_t byteOffset(std::string_view text, std::size_t index,
                                     std::size_t from = 0);

/// The classes of Python's str methods.
[[nodiscard]] bool isSpace(char32_t c);
[[nodiscard]] bool isAlpha(char32_t c);
[[nodiscard]] bool isDecimal(char32_t c);
[[nodiscard]] bool isDigit(char32_t c);
[[nodiscard]] bool isNumeric(char32_t c);
[[nodiscard]] bool isUpper(char32_t c);
[[nodiscard]] bool isLower(char32_t c);
[[nodiscard]] bool isTitle(char32_t c);
[[nodiscard]] bool isPrintable(char32_t c);
[[nodiscard]] bool isIdentifierStart(char32_t c);
[[nodiscard]] bool isIdentifierPart(char32_t c);
/// The value of a decimal digit of any script; −1 for others.
[[nodiscard]] int digitValue(char32_t c);

[[nodiscard]] std::string toUpper(std::string_view text);
[[nodiscard]] std::string toLower(std::string_view text);
[[nodiscard]] std::string swapCase(std::string_view text);
/// First character in title case, the rest in lower case.
[[nodiscard]] std::string capitalize(std::string_view text);
/// As Python's str.title: each run of cased characters begins in title case.
[[nodiscard]] std::string toTitle(std::string_view text);

/// Strips white space, or any of the characters in `chars`, from the chosen ends.
enum class Ends { kLeft, kRight, kBoth };
[[nodiscard]] std::string_view strip(std::string_view text, Ends ends,
                                     std::optional<std::string_view> chars = std::nullopt);

}  // namespace quern::engine::jinja
