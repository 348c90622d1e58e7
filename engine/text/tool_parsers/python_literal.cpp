#include <cctype>

#include "engine/text/tokenizer_utf8.h"
#include "engine/text/tool_parsers/call_body.h"

namespace quern::engine::tool_parsers {
namespace {

bool isLetter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Reads from `at` on, and leaves it behind what was read.
class LiteralReader {
public:
    explicit LiteralReader(std::string_view text) : m_text(text) {}

    std::string run() {
        std::string out;
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (c == '\'' || c == '"') {
                out += quoteJson(quoted(c));
            } else if (isDigit(c)) {
                out += number();
            } else if (isLetter(c)) {
                out += word();
            } else {
                out += c == '(' ? '[' : c == ')' ? ']' : c;
                ++m_at;
            }
        }
        return out;
    }

private:
    std::string quoted(char quote) {
        std::string value;
        for (++m_at; m_at < m_text.size() && m_text[m_at] != quote; ++m_at) {
            if (m_text[m_at] == '\\' && m_at + 1 < m_text.size()) {
                ++m_at;
                escape(value);
            } else {
                value += m_text[m_at];
            }
        }
        ++m_at;
        return value;
    }

    void escape(std::string& value) {
        const char c = m_text[m_at];
        const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        const std::string_view code = m_text.substr(m_at + 1, digits);
        if (digits > 0 && code.size() == digits &&
            code.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos) {
            const auto point = static_cast<char32_t>(std::stoul(std::string(code), nullptr, 16));
            text::appendUtf8(value, point < 0x110000 ? point : U'\uFFFD');
            m_at += digits;
            return;
        }
        switch (c) {
            case 'n':
                value += '\n';
                break;
            case 't':
                value += '\t';
                break;
            case 'r':
                value += '\r';
                break;
            case 'b':
                value += '\b';
                break;
            case 'f':
                value += '\f';
                break;
            case '\\':
            case '\'':
            case '"':
            case '/':
                value += c;
                break;
            default:
                // Python keeps the backslash of what is no escape.
                value += '\\';
                value += c;
        }
    }

    std::string number() {
        const std::size_t from = m_at;
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            const bool isExponentSign =
                (c == '+' || c == '-') && (m_text[m_at - 1] == 'e' || m_text[m_at - 1] == 'E');
            if (!isDigit(c) && c != '.' && c != 'e' && c != 'E' &&
                !(isExponentSign && m_at > from)) {
                break;
            }
            ++m_at;
        }
        return std::string(m_text.substr(from, m_at - from));
    }

    std::string word() {
        const std::size_t from = m_at;
        while (m_at < m_text.size() && (isLetter(m_text[m_at]) || isDigit(m_text[m_at]))) {
            ++m_at;
        }
        const std::string_view found = m_text.substr(from, m_at - from);
        if (found == "true" || found == "True") {
            return "true";
        }
        if (found == "false" || found == "False") {
            return "false";
        }
        return found == "null" || found == "None" ? "null" : quoteJson(found);
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

}  // namespace

std::string literalToJson(std::string_view text) {
    return LiteralReader(text).run();
}

}  // namespace quern::engine::tool_parsers
