#include "engine/text/tokenizer_utf8.h"

#include <algorithm>
#include <cstring>

namespace quern::engine::text {
namespace {

bool isContinuation(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

/// Whether `second` may follow `lead`: this rules out overlong forms, surrogates and what is above
/// U+10FFFF (table 3-7 of the Unicode standard).
bool isSecondByte(unsigned char lead, unsigned char second) {
    switch (lead) {
        case 0xE0:
            return second >= 0xA0 && second <= 0xBF;
        case 0xED:
            return second >= 0x80 && second <= 0x9F;
        case 0xF0:
            return second >= 0x90 && second <= 0xBF;
        case 0xF4:
            return second >= 0x80 && second <= 0x8F;
        default:
            return isContinuation(second);
    }
}

/// The position of the first byte from `position` on that is not ASCII.
std::size_t skipAscii(std::string_view text, std::size_t position) {
    constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
    while (position + sizeof(std::uint64_t) <= text.size()) {
        std::uint64_t block = 0;
        std::memcpy(&block, text.data() + position, sizeof(block));
        if ((block & kHighBits) != 0) {
            break;
        }
        position += sizeof(block);
    }
    while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) {
        ++position;
    }
    return position;
}

}  // namespace

DecodedChar decodeUtf8(std::string_view text, std::size_t position) {
    const auto lead = static_cast<unsigned char>(text[position]);
    const std::size_t length = utf8Length(lead);
    if (length == 0 || position + length > text.size()) {
        return {};
    }
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[position + i]);
        if (i == 1 ? !isSecondByte(lead, byte) : !isContinuation(byte)) {
            return {};
        }
    }
    return decodeValidUtf8(text, position);
}

std::size_t lastCharStart(std::string_view text) {
    std::size_t position = text.size() - 1;
    while (position > 0 && isContinuation(static_cast<unsigned char>(text[position]))) {
        --position;
    }
    return position;
}

std::size_t incompleteTail(std::string_view text) {
    const std::size_t longest = std::min<std::size_t>(3, text.size());
    for (std::size_t back = 1; back <= longest; ++back) {
        const std::size_t start = text.size() - back;
        const auto lead = static_cast<unsigned char>(text[start]);
        if (isContinuation(lead)) {
            continue;
        }
        const bool fits =
            back == 1 || isSecondByte(lead, static_cast<unsigned char>(text[start + 1]));
        return utf8Length(lead) > back && fits ? start : text.size();
    }
    return text.size();
}

bool needsEscape(std::string_view text) {
    for (std::size_t i = skipAscii(text, 0); i < text.size();) {
        const DecodedChar c = decodeUtf8(text, i);
        if (c.length == 0 || isEscapedByte(c.codepoint)) {
            return true;
        }
        i += c.length;
        if (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) {
            i = skipAscii(text, i);
        }
    }
    return false;
}

std::string escapeInvalid(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8 + 16);
    const auto escape = [&](char byte) {
        appendUtf8(out, 0x10FF00 + static_cast<char32_t>(static_cast<unsigned char>(byte)));
    };
    for (std::size_t i = 0; i < text.size();) {
        const DecodedChar c = decodeUtf8(text, i);
        if (c.length == 0) {
            escape(text[i]);
            ++i;
            continue;
        }
        if (isEscapedByte(c.codepoint)) {
            std::for_each_n(text.begin() + static_cast<std::ptrdiff_t>(i), c.length, escape);
        } else {
            out.append(text.substr(i, c.length));
        }
        i += c.length;
    }
    return out;
}

void appendUnescaped(std::string& out, std::string_view escaped) {
    for (std::size_t i = 0; i < escaped.size();) {
        const DecodedChar c = decodeValidUtf8(escaped, i);
        if (isEscapedByte(c.codepoint)) {
            out.push_back(unescapeByte(c.codepoint));
        } else {
            out.append(escaped.substr(i, c.length));
        }
        i += c.length;
    }
}

}  // namespace quern::engine::text
