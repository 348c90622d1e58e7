#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/text/append_utf8.h"

namespace quern::engine::text {

struct DecodedChar {
    char32_t codepoint = 0;
    std::size_t length = 0;  // bytes; 0: what stands here is not UTF-8
};

/// Bytes that a character beginning with `lead` has; 0 where no character begins so.
[[nodiscard]] constexpr std::size_t utf8Length(unsigned char lead) {
    return lead < 0x80   ? 1
           : lead < 0xC2 ? 0
           : lead < 0xE0 ? 2
           : lead < 0xF0 ? 3
           : lead < 0xF5 ? 4
                         : 0;
}

/// The character at `text[position]`, by the strict rules of RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF. `position` must be inside.
[[nodiscard]] DecodedChar decodeUtf8(std::string_view text, std::size_t position);

/// As `decodeUtf8`, for text that is known to be valid.
[[nodiscard]] inline DecodedChar decodeValidUtf8(std::string_view text, std::size_t position) {
    const auto at = [&](std::size_t i) {
        return static_cast<char32_t>(static_cast<unsigned char>(text[position + i]));
    };
    const char32_t lead = at(0);
    if (lead < 0x80) {
        return {.codepoint = lead, .length = 1};
    }
    if (lead < 0xE0) {
        return {.codepoint = ((lead & 0x1F) << 6) | (at(1) & 0x3F), .length = 2};
    }
    if (lead < 0xF0) {
        return {.codepoint = ((lead & 0x0F) << 12) | ((at(1) & 0x3F) << 6) | (at(2) & 0x3F),
                .length = 3};
    }
    return {.codepoint = ((lead & 0x07) << 18) | ((at(1) & 0x3F) << 12) | ((at(2) & 0x3F) << 6) |
                         (at(3) & 0x3F),
            .length = 4};
}

/// The start of the last character of valid, non-empty text.
[[nodiscard]] std::size_t lastCharStart(std::string_view text);

/// Where the bytes at the end of `text` begin a character that further bytes can complete: the
/// position of its first byte, else `text.size()`.
[[nodiscard]] std::size_t incompleteTail(std::string_view text);

// Tokenizers work on valid UTF-8. A byte that is not part of any character travels through them as
// one of the private characters U+10FF80 to U+10FFFF and becomes that byte again where bytes are
// looked up. Those characters themselves travel as their four bytes: so every text comes back
// whole.

/// Whether `c` stands for a single byte of invalid text.
[[nodiscard]] constexpr bool isEscapedByte(char32_t c) {
    return c >= 0x10FF80 && c <= 0x10FFFF;
}
[[nodiscard]] constexpr char unescapeByte(char32_t c) {
    return static_cast<char>(c - 0x10FF00);
}

/// Whether `escapeInvalid` would change anything.
[[nodiscard]] bool needsEscape(std::string_view text);
/// Valid UTF-8 that stands for `text`, whatever bytes it holds.
[[nodiscard]] std::string escapeInvalid(std::string_view text);
/// Appends the bytes that escaped text stands for.
void appendUnescaped(std::string& out, std::string_view escaped);

}  // namespace quern::engine::text
