#include <array>
#include <cstdint>

#include "engine/text/pretokenizer.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

// GPT-2's alphabet: the bytes that print in Latin-1 are themselves, the others take the characters
// from U+0100 on, in order.
constexpr bool printsInLatin1(int byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) ||
           (byte >= 0xAE && byte <= 0xFF);
}

struct Alphabet {
    std::array<char32_t, 256> chars{};
    std::array<std::int16_t, 0x200> bytes{};
    std::array<std::array<char, 2>, 256> utf8{};
    std::array<std::uint8_t, 256> lengths{};

    constexpr Alphabet() {
        bytes.fill(-1);
        char32_t next = 0x100;
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const char32_t c =
                printsInLatin1(static_cast<int>(byte)) ? static_cast<char32_t>(byte) : next++;
            chars[byte] = c;
            bytes[c] = static_cast<std::int16_t>(byte);
            if (c < 0x80) {
                utf8[byte] = {static_cast<char>(c), 0};
                lengths[byte] = 1;
            } else {
                utf8[byte] = {static_cast<char>(0xC0 | (c >> 6)),
                              static_cast<char>(0x80 | (c & 0x3F))};
                lengths[byte] = 2;
            }
        }
    }
};
constexpr Alphabet kAlphabet;

}  // namespace

std::string_view byteLevelChar(unsigned char byte) {
    return {kAlphabet.utf8[byte].data(), kAlphabet.lengths[byte]};
}

int byteOfLevelChar(char32_t c) {
    return c < kAlphabet.bytes.size() ? kAlphabet.bytes[c] : -1;
}

void appendByteLevel(std::string& out, std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == 0xF4) {
            const DecodedChar c = decodeValidUtf8(text, i);
            if (isEscapedByte(c.codepoint)) {
                out.append(byteLevelChar(static_cast<unsigned char>(unescapeByte(c.codepoint))));
                i += c.length;
                continue;
            }
        }
        out.append(byteLevelChar(byte));
        ++i;
    }
}

}  // namespace quern::engine::text
