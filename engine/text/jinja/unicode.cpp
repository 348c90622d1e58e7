#include "engine/text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace quern::engine::jinja {
namespace {

/// Length of the sequence that a lead byte announces; 1 for anything that is no lead byte.
std::size_t sequenceLength(unsigned char lead) {
    if (lead < 0xC0) {
        return 1;
    }
    if (lead < 0xE0) {
        return 2;
    }
    return lead < 0xF0 ? 3 : 4;
}

utf8proc_category_t category(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool isCased(char32_t c) {
    return isUpper(c) || isLower(c) || isTitle(c);
}

/// Upper case of one character, with the expansions of Unicode's SpecialCasing that have no
/// one-character form. `title` gives the form that begins a word.
void appendUpper(std::string& out, char32_t c, bool title) {
    if (c < 0x80) {
        out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
        return;
    }
    switch (c) {
        case 0xDF:
            out += title ? "Ss" : "SS";
            return;
        case 0xFB00:
            out += title ? "Ff" : "FF";
            return;
        case 0xFB01:
            out += title ? "Fi" : "FI";
            return;
        case 0xFB02:
            out += title ? "Fl" : "FL";
            return;
        case 0xFB03:
            out += title ? "Ffi" : "FFI";
            return;
        case 0xFB04:
            out += title ? "Ffl" : "FFL";
            return;
        case 0xFB05:
        case 0xFB06:
            out += title ? "St" : "ST";
            return;
        case 0x149:
            out += "\u02BCN";
            return;
        case 0x1F0:
            out += "J\u030C";
            return;
        case 0x587:
            out += title ? "\u0535\u0582" : "\u0535\u0552";
            return;
        default:
            break;
    }
    const auto code = static_cast<utf8proc_int32_t>(c);
    text::appendUtf8(
        out, static_cast<char32_t>(title ? utf8proc_totitle(code) : utf8proc_toupper(code)));
}

void appendLower(std::string& out, char32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (c == 0x130) {
        out += "i\u0307";
    } else {
        text::appendUtf8(out,
                         static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
}

/// Sigma at the end of a word has a form of its own.
bool isFinalSigma(const std::u32string& text, std::size_t at) {
    const auto isIgnorable = [](char32_t c) {
        const utf8proc_category_t kind = category(c);
        return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_ME ||
               kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_LM ||
               kind == UTF8PROC_CATEGORY_SK || c == U'\'' || c == U'.' || c == U':' || c == 0xB7;
    };
    std::size_t before = at;
    while (before > 0 && isIgnorable(text[before - 1])) {
        --before;
    }
    if (before == 0 || !isCased(text[before - 1])) {
        return false;
    }
    std::size_t after = at + 1;
    while (after < text.size() && isIgnorable(text[after])) {
        ++after;
    }
    return after == text.size() || !isCased(text[after]);
}

void appendLowerAt(std::string& out, const std::u32string& text, std::size_t at) {
    if (text[at] == 0x3A3 && isFinalSigma(text, at)) {
        text::appendUtf8(out, 0x3C2);
    } else {
        appendLower(out, text[at]);
    }
}

}  // namespace

std::optional<std::size_t> findInvalidUtf8(std::string_view text) {
    std::size_t pos = 0;
    while (pos < text.size()) {
        const auto lead = static_cast<unsigned char>(text[pos]);
        if (lead < 0x80) {
            ++pos;
            continue;
        }
        utf8proc_int32_t code = 0;
        const utf8proc_ssize_t used =
            utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + pos),
                             static_cast<utf8proc_ssize_t>(text.size() - pos), &code);
        if (used <= 0) {
            return pos;
        }
        pos += static_cast<std::size_t>(used);
    }
    return std::nullopt;
}

std::size_t countCodePoints(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

char32_t nextCodePoint(std::string_view text, std::size_t& pos) {
    const auto lead = static_cast<unsigned char>(text[pos]);
    const std::size_t length = std::min(sequenceLength(lead), text.size() - pos);
    if (length == 1) {
        ++pos;
        return lead;
    }
    char32_t code = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        code = (code << 6U) | (static_cast<unsigned char>(text[pos + i]) & 0x3FU);
    }
    pos += length;
    return code;
}

std::u32string toCodePoints(std::string_view text) {
    std::u32string out;
    out.reserve(text.size());
    for (std::size_t pos = 0; pos < text.size();) {
        out += nextCodePoint(text, pos);
    }
    return out;
}

std::string toUtf8(std::u32string_view codePoints) {
    std::string out;
    out.reserve(codePoints.size());
    for (const char32_t c : codePoints) {
        text::appendUtf8(out, c);
    }
    return out;
}

std::size_t byteOffset(std::string_view text, std::size_t index, std::size_t from) {
    std::size_t pos = std::min(from, text.size());
    for (; index > 0 && pos < text.size(); --index) {
        pos += sequenceLength(static_cast<unsigned char>(text[pos]));
    }
    return std::min(pos, text.size());
}

bool isSpace(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

bool isAlpha(char32_t c) {
    switch (category(c)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
            return true;
        default:
            return false;
    }
}

bool isDecimal(char32_t c) {
    return category(c) == UTF8PROC_CATEGORY_ND;
}

bool isDigit(char32_t c) {
    // Superscripts and circled digits have a digit value without being decimals.
    return isDecimal(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 ||
           (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089) ||
           (c >= 0x2460 && c <= 0x2468) || (c >= 0x2474 && c <= 0x247C) ||
           (c >= 0x2488 && c <= 0x2490) || c == 0x24EA || (c >= 0x24F5 && c <= 0x24FD) ||
           c == 0x24FF || (c >= 0x2776 && c <= 0x277E) || (c >= 0x2780 && c <= 0x2788) ||
           (c >= 0x278A && c <= 0x2792);
}

bool isNumeric(char32_t c) {
    const utf8proc_category_t kind = category(c);
    return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL ||
           kind == UTF8PROC_CATEGORY_NO || isDigit(c);
}

bool isUpper(char32_t c) {
    return category(c) == UTF8PROC_CATEGORY_LU;
}

bool isLower(char32_t c) {
    return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA;
}

bool isTitle(char32_t c) {
    return category(c) == UTF8PROC_CATEGORY_LT;
}

bool isPrintable(char32_t c) {
    if (c == U' ') {
        return true;
    }
    switch (category(c)) {
        case UTF8PROC_CATEGORY_CN:
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_CS:
        case UTF8PROC_CATEGORY_CO:
        case UTF8PROC_CATEGORY_ZS:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP:
            return false;
        default:
            return true;
    }
}

bool isIdentifierStart(char32_t c) {
    return c == U'_' || isAlpha(c) || category(c) == UTF8PROC_CATEGORY_NL;
}

bool isIdentifierPart(char32_t c) {
    const utf8proc_category_t kind = category(c);
    return isIdentifierStart(c) || kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_MN ||
           kind == UTF8PROC_CATEGORY_MC || kind == UTF8PROC_CATEGORY_PC;
}

int digitValue(char32_t c) {
    if (c >= U'0' && c <= U'9') {
        return static_cast<int>(c - U'0');
    }
    if (c < 0x80 || !isDecimal(c)) {
        return -1;
    }
    // Decimal digits come in runs of ten, in order; a run begins where the one before is no digit
    // or where another run of ten is complete.
    char32_t start = c;
    while (isDecimal(start - 1)) {
        --start;
    }
    return static_cast<int>((c - start) % 10);
}

std::string toUpper(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t pos = 0; pos < text.size();) {
        appendUpper(out, nextCodePoint(text, pos), false);
    }
    return out;
}

std::string toLower(std::string_view text) {
    const std::u32string points = toCodePoints(text);
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        appendLowerAt(out, points, i);
    }
    return out;
}

std::string swapCase(std::string_view text) {
    const std::u32string points = toCodePoints(text);
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (isUpper(points[i])) {
            appendLowerAt(out, points, i);
        } else if (isLower(points[i])) {
            appendUpper(out, points[i], false);
        } else {
            text::appendUtf8(out, points[i]);
        }
    }
    return out;
}

std::string capitalize(std::string_view text) {
    const std::u32string points = toCodePoints(text);
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i == 0) {
            appendUpper(out, points[i], true);
        } else {
            appendLowerAt(out, points, i);
        }
    }
    return out;
}

std::string toTitle(std::string_view text) {
    const std::u32string points = toCodePoints(text);
    std::string out;
    out.reserve(text.size());
    bool insideWord = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (insideWord) {
            appendLowerAt(out, points, i);
        } else {
            appendUpper(out, points[i], true);
        }
        insideWord = isCased(points[i]);
    }
    return out;
}

std::string_view strip(std::string_view text, Ends ends, std::optional<std::string_view> chars) {
    const std::u32string set = chars ? toCodePoints(*chars) : std::u32string();
    const auto goes = [&](char32_t c) {
        return chars ? set.find(c) != std::u32string::npos : isSpace(c);
    };
    std::size_t begin = 0;
    std::size_t end = text.size();
    if (ends != Ends::kRight) {
        while (begin < end) {
            std::size_t next = begin;
            if (!goes(nextCodePoint(text, next))) {
                break;
            }
            begin = next;
        }
    }
    if (ends != Ends::kLeft) {
        while (end > begin) {
            std::size_t last = end - 1;
            while (last > begin && (static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80U) {
                --last;
            }
            std::size_t pos = last;
            if (!goes(nextCodePoint(text, pos))) {
                break;
            }
            end = last;
        }
    }
    return text.substr(begin, end - begin);
}

}  // namespace quern::engine::jinja
