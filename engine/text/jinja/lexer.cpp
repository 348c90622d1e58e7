#include "engine/text/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

std::string normalizeNewlines(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r') {
            out += '\n';
            if (i + 1 < source.size() && source[i + 1] == '\n') {
                ++i;
            }
        } else {
            out += source[i];
        }
    }
    if (!out.empty() && out.back() == '\n') {
        out.pop_back();
    }
    return out;
}

int countLines(std::string_view text) {
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

bool isDigitAscii(char c) {
    return c >= '0' && c <= '9';
}

class Lexer {
public:
    explicit Lexer(std::string source) : m_source(std::move(source)) {}

    std::vector<Token> run() {
        while (m_pos < m_source.size()) {
            readRoot();
        }
        add(TokenKind::kEnd, "");
        return std::move(m_tokens);
    }

private:
    [[nodiscard]] std::string_view rest() const { return std::string_view(m_source).substr(m_pos); }
    [[nodiscard]] char at(std::size_t pos) const {
        return pos < m_source.size() ? m_source[pos] : '\0';
    }

    void add(TokenKind kind, std::string value) {
        m_tokens.push_back(Token{.kind = kind, .line = m_line, .value = std::move(value)});
    }

    void advance(std::size_t bytes) {
        m_line += countLines(rest().substr(0, bytes));
        m_pos += bytes;
        if (bytes > 0) {
            m_isLineStart = m_source[m_pos - 1] == '\n';
        }
    }

    [[nodiscard]] std::size_t skipSpaces(std::size_t pos) const {
        while (pos < m_source.size()) {
            std::size_t next = pos;
            if (!isSpace(nextCodePoint(m_source, next))) {
                break;
            }
            pos = next;
        }
        return pos;
    }

    /// The position behind a block's end tag at `pos`; absent when none stands there.
    [[nodiscard]] std::optional<std::size_t> matchBlockEnd(std::size_t pos,
                                                           std::string_view end) const {
        const std::string_view text = m_source;
        if (text.substr(pos, 1) == "+" && text.substr(pos + 1, 2) == end) {
            return pos + 3;
        }
        if (text.substr(pos, 1) == "-" && text.substr(pos + 1, 2) == end) {
            return skipSpaces(pos + 3);
        }
        if (text.substr(pos, 2) == end) {
            return pos + 2 + (at(pos + 2) == '\n' ? 1U : 0U);
        }
        return std::nullopt;
    }

    /// Behind "{% word %}" whose tag begins at `open`, after the sign. A raw tag does not eat the
    /// newline that follows it, its end tag does.
    [[nodiscard]] std::optional<std::size_t> matchWordTag(std::size_t open, std::string_view word,
                                                          bool trims) const {
        const std::string_view text = m_source;
        std::size_t pos = skipSpaces(open);
        if (text.substr(pos, word.size()) != word) {
            return std::nullopt;
        }
        pos = skipSpaces(pos + word.size());
        if (!trims) {
            if (text.substr(pos, 3) == "-%}") {
                return skipSpaces(pos + 3);
            }
            return text.substr(pos, 2) == "%}" ? std::optional(pos + 2) : std::nullopt;
        }
        return matchBlockEnd(pos, "%}");
    }

    /// Adds the text before a tag, stripped as the tag's sign and lstrip_blocks say.
    void addData(std::string_view data, char sign, bool isVariable) {
        std::string_view kept = data;
        if (sign == '-') {
            kept = strip(data, Ends::kRight);
        } else if (sign != '+' && !isVariable) {
            const std::size_t newline = data.rfind('\n');
            const std::size_t lineStart = newline == std::string_view::npos ? 0 : newline + 1;
            const std::string_view tail = data.substr(lineStart);
            if ((lineStart > 0 || m_isLineStart) && !tail.empty() &&
                strip(tail, Ends::kBoth).empty()) {
                kept = data.substr(0, lineStart);
            }
        }
        if (!kept.empty()) {
            add(TokenKind::kData, std::string(kept));
        }
    }

    void readRoot() {
        const std::string_view text = rest();
        std::size_t tag = 0;
        while (true) {
            tag = text.find('{', tag);
            if (tag == std::string_view::npos || tag + 1 >= text.size()) {
                add(TokenKind::kData, std::string(text));
                advance(text.size());
                return;
            }
            const char kind = text[tag + 1];
            if (kind == '%' || kind == '{' || kind == '#') {
                break;
            }
            ++tag;
        }
        const char kind = text[tag + 1];
        const char next = tag + 2 < text.size() ? text[tag + 2] : '\0';
        const char sign = next == '-' || next == '+' ? next : '\0';
        addData(text.substr(0, tag), sign, kind == '{');
        advance(tag);
        const std::size_t signSize = sign == '\0' ? 0 : 1;
        if (kind == '%') {
            if (const auto behind = matchWordTag(m_pos + 2 + signSize, "raw", false)) {
                advance(*behind - m_pos);
                readRaw();
                return;
            }
            add(TokenKind::kBlockBegin, "{%");
            advance(2 + signSize);
            readTag(true);
        } else if (kind == '{') {
            add(TokenKind::kVariableBegin, "{{");
            advance(2 + signSize);
            readTag(false);
        } else {
            advance(2 + signSize);
            readComment();
        }
    }

    void readComment() {
        if (m_pos == m_source.size()) {
            return;  // The reference lets a comment that begins at the very end be.
        }
        for (std::size_t pos = m_pos; pos + 1 < m_source.size(); ++pos) {
            if (const auto behind = matchBlockEnd(pos, "#}")) {
                advance(*behind - m_pos);
                return;
            }
        }
        raiseSyntax("Missing end of comment tag", m_line);
    }

    void readRaw() {
        std::size_t pos = m_pos;
        while ((pos = m_source.find("{%", pos)) != std::string::npos) {
            const char next = at(pos + 2);
            const char sign = next == '-' || next == '+' ? next : '\0';
            if (const auto behind =
                    matchWordTag(pos + 2 + (sign == '\0' ? 0U : 1U), "endraw", true)) {
                addData(rest().substr(0, pos - m_pos), sign, false);
                advance(*behind - m_pos);
                return;
            }
            pos += 2;
        }
        raiseSyntax("Missing end of raw directive", m_line);
    }

    void readTag(bool isBlock) {
        std::string open;  // brackets that wait for their end
        while (m_pos < m_source.size()) {
            if (open.empty() && readTagEnd(isBlock)) {
                return;
            }
            readToken(open);
        }
    }

    bool readTagEnd(bool isBlock) {
        const std::string_view text = rest();
        std::optional<std::size_t> behind;
        if (isBlock) {
            behind = matchBlockEnd(m_pos, "%}");
        } else if (text.substr(0, 3) == "-}}") {
            behind = skipSpaces(m_pos + 3);
        } else if (text.substr(0, 2) == "}}") {
            behind = m_pos + 2;
        }
        if (!behind) {
            return false;
        }
        add(isBlock ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, isBlock ? "%}" : "}}");
        advance(*behind - m_pos);
        return true;
    }

    void readToken(std::string& open) {
        const std::size_t behindSpace = skipSpaces(m_pos);
        if (behindSpace > m_pos) {
            advance(behindSpace - m_pos);
            return;
        }
        if (readNumber() || readName() || readText()) {
            return;
        }
        readOperator(open);
    }

    /// Digits of a base with single underscores between them; the position behind.
    [[nodiscard]] std::size_t digitsEnd(std::size_t pos, int base) const {
        const auto isDigitOf = [base](char c) {
            if (base == 16) {
                return std::isxdigit(static_cast<unsigned char>(c)) != 0;
            }
            return c >= '0' && c < '0' + base;
        };
        std::size_t end = pos;
        while (isDigitOf(at(end)) ||
               (end > pos && at(end) == '_' && at(end - 1) != '_' && isDigitOf(at(end + 1)))) {
            ++end;
        }
        return end;
    }

    bool readNumber() {
        if (!isDigitAscii(at(m_pos))) {
            return false;
        }
        const std::size_t whole = digitsEnd(m_pos, 10);
        std::size_t end = whole;
        bool isFloat = false;
        const bool isAfterDot = m_pos > 0 && m_source[m_pos - 1] == '.';
        if (!isAfterDot) {
            if (at(end) == '.' && isDigitAscii(at(end + 1))) {
                isFloat = true;
                end = digitsEnd(end + 1, 10);
            }
            if (at(end) == 'e' || at(end) == 'E') {
                const std::size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
                if (isDigitAscii(at(end + 1 + sign))) {
                    isFloat = true;
                    end = digitsEnd(end + 1 + sign, 10);
                }
            }
        }
        if (!isFloat) {
            end = integerEnd(whole);
        }
        std::string digits = m_source.substr(m_pos, end - m_pos);
        digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
        add(isFloat ? TokenKind::kFloat : TokenKind::kInteger, digits);
        advance(end - m_pos);
        return true;
    }

    [[nodiscard]] std::size_t integerEnd(std::size_t decimalEnd) const {
        if (at(m_pos) != '0') {
            return decimalEnd;
        }
        const auto letter =
            static_cast<char>(std::tolower(static_cast<unsigned char>(at(m_pos + 1))));
        const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
        if (base != 0) {
            const std::size_t from = m_pos + 2 + (at(m_pos + 2) == '_' ? 1U : 0U);
            const std::size_t end = digitsEnd(from, base);
            if (end > from) {
                return end;
            }
        }
        // A decimal that begins with 0 is only zeros; what follows is a token of its own.
        std::size_t end = m_pos + 1;
        while (end < decimalEnd && (at(end) == '0' || (at(end) == '_' && at(end + 1) == '0'))) {
            ++end;
        }
        return end;
    }

    bool readName() {
        std::size_t pos = m_pos;
        bool isFirst = true;
        while (pos < m_source.size()) {
            std::size_t next = pos;
            const char32_t c = nextCodePoint(m_source, next);
            if (isFirst ? !isIdentifierStart(c) : !isIdentifierPart(c)) {
                break;
            }
            isFirst = false;
            pos = next;
        }
        if (pos == m_pos) {
            return false;
        }
        add(TokenKind::kName, m_source.substr(m_pos, pos - m_pos));
        advance(pos - m_pos);
        return true;
    }

    bool readText() {
        const char quote = at(m_pos);
        if (quote != '\'' && quote != '"') {
            return false;
        }
        std::size_t end = m_pos + 1;
        while (end < m_source.size() && m_source[end] != quote) {
            end += m_source[end] == '\\' ? 2 : 1;
        }
        if (end >= m_source.size()) {
            return false;
        }
        add(TokenKind::kText, unescape(rest().substr(1, end - m_pos - 1)));
        advance(end + 1 - m_pos);
        return true;
    }

    [[nodiscard]] std::string unescape(std::string_view text) const {
        std::string out;
        for (std::size_t i = 0; i < text.size();) {
            if (text[i] != '\\' || i + 1 >= text.size()) {
                out += text[i++];
                continue;
            }
            const char c = text[i + 1];
            i += 2;
            switch (c) {
                case '\n':
                    break;
                case '\\':
                case '\'':
                case '"':
                    out += c;
                    break;
                case 'a':
                    out += '\a';
                    break;
                case 'b':
                    out += '\b';
                    break;
                case 'f':
                    out += '\f';
                    break;
                case 'n':
                    out += '\n';
                    break;
                case 'r':
                    out += '\r';
                    break;
                case 't':
                    out += '\t';
                    break;
                case 'v':
                    out += '\v';
                    break;
                case 'x':
                    i += unescapeHex(out, text.substr(i), 2, c);
                    break;
                case 'u':
                    i += unescapeHex(out, text.substr(i), 4, c);
                    break;
                case 'U':
                    i += unescapeHex(out, text.substr(i), 8, c);
                    break;
                case 'N':
                    raiseSyntax("characters by name (\\N{...}) are not supported", m_line);
                default:
                    i += unescapeOther(out, text, i - 1);
            }
        }
        return out;
    }

    std::size_t unescapeHex(std::string& out, std::string_view digits, std::size_t count,
                            char letter) const {
        char32_t code = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (i >= digits.size() || std::isxdigit(static_cast<unsigned char>(digits[i])) == 0) {
                raiseSyntax(std::string("truncated \\") + letter + " escape", m_line);
            }
            const char c = digits[i];
            const int value = isDigitAscii(c) ? c - '0' : (c | 0x20) - 'a' + 10;
            code = code * 16 + static_cast<char32_t>(value);
        }
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
            raiseSyntax("an escape that is no Unicode character", m_line);
        }
        text::appendUtf8(out, code);
        return count;
    }

    /// Octal escapes, and backslashes that escape nothing and stay. Returns the bytes used less
    /// the one at `from`.
    static std::size_t unescapeOther(std::string& out, std::string_view text, std::size_t from) {
        std::size_t used = 0;
        char32_t code = 0;
        while (used < 3 && from + used < text.size() && text[from + used] >= '0' &&
               text[from + used] <= '7') {
            code = code * 8 + static_cast<char32_t>(text[from + used] - '0');
            ++used;
        }
        if (used == 0) {
            out += '\\';
            out += text[from];
            return 0;
        }
        text::appendUtf8(out, code);
        return used - 1;
    }

    void readOperator(std::string& open) {
        constexpr std::array<std::string_view, 7> kTwo = {"==", "!=", ">=", "<=", "//", "**", "->"};
        const std::string_view text = rest();
        std::size_t length = 1;
        for (const std::string_view op : kTwo) {
            if (op != "->" && text.substr(0, 2) == op) {
                length = 2;
            }
        }
        const char c = text[0];
        if (length == 1 &&
            std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos) {
            std::size_t pos = m_pos;
            (void)nextCodePoint(m_source, pos);
            raiseSyntax("unexpected char " + std::string(1, '\'') +
                            m_source.substr(m_pos, pos - m_pos) + "' at " + std::to_string(m_pos),
                        m_line);
        }
        if (length == 1) {
            checkBalance(open, c);
        }
        add(TokenKind::kOperator, std::string(text.substr(0, length)));
        advance(length);
    }

    void checkBalance(std::string& open, char c) const {
        if (c == '(' || c == '[' || c == '{') {
            open += c == '(' ? ')' : c == '[' ? ']' : '}';
        } else if (c == ')' || c == ']' || c == '}') {
            if (open.empty()) {
                raiseSyntax(std::string("unexpected '") + c + "'", m_line);
            }
            if (open.back() != c) {
                raiseSyntax(std::string("unexpected '") + c + "', expected '" + open.back() + "'",
                            m_line);
            }
            open.pop_back();
        }
    }

    std::string m_source;
    std::size_t m_pos = 0;
    int m_line = 1;
    bool m_isLineStart = true;
    std::vector<Token> m_tokens;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
    return Lexer(normalizeNewlines(source)).run();
}

std::string describe(const Token& token) {
    switch (token.kind) {
        case TokenKind::kEnd:
            return "end of template";
        case TokenKind::kData:
            return "template data / text";
        case TokenKind::kVariableBegin:
            return "begin of print statement";
        case TokenKind::kVariableEnd:
            return "end of print statement";
        case TokenKind::kBlockBegin:
            return "begin of statement block";
        case TokenKind::kBlockEnd:
            return "end of statement block";
        case TokenKind::kText:
            return "string";
        case TokenKind::kInteger:
            return "integer";
        case TokenKind::kFloat:
            return "float";
        case TokenKind::kName:
        case TokenKind::kOperator:
            break;
    }
    return token.value;
}

}  // namespace quern::engine::jinja
