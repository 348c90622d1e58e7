#include "engine/text/tokenizer_unicode.h"

#include <utf8proc.h>

#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

utf8proc_category_t category(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

}  // namespace

bool isWhitespace(char32_t c) {
    if (c < 0x80) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool isPunctuation(char32_t c) {
    if (c < 0x80) {
        return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
               (c >= '{' && c <= '~');
    }
    const utf8proc_category_t kind = category(c);
    return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool isNumeric(char32_t c) {
    if (c < 0x80) {
        return c >= '0' && c <= '9';
    }
    const utf8proc_category_t kind = category(c);
    return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool isNonspacingMark(char32_t c) {
    return c >= 0x80 && category(c) == UTF8PROC_CATEGORY_MN;
}

bool isMark(char32_t c) {
    return c >= 0x80 && category(c) >= UTF8PROC_CATEGORY_MN && category(c) <= UTF8PROC_CATEGORY_ME;
}

bool isOther(char32_t c) {
    const utf8proc_category_t kind = category(c);
    return kind >= UTF8PROC_CATEGORY_CC && kind <= UTF8PROC_CATEGORY_CO;
}

bool isWordChar(char32_t c) {
    if (c < 0x80) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    }
    const utf8proc_category_t kind = category(c);
    // The circled letters are symbols, yet alphabetic.
    return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL) ||
           kind == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D ||
           (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
           (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

bool isCjkIdeograph(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void appendLowercase(std::string& out, char32_t c) {
    if (c < 0x80) {
        out.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c));
    } else if (c == 0x130) {
        // The only character whose lower case is two characters, in any language.
        out.append("i\u0307");
    } else {
        appendUtf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
}

}  // namespace quern::engine::text
