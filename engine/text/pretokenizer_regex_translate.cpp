#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/text/pretokenizer_regex.h"

namespace quern::engine::text {
namespace {

// PCRE2's \s takes U+180E, which is no white space since Unicode 6.3.
constexpr std::string_view kSpaceSet =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
// PCRE2's \w (before 10.43) knows no marks and no connectors besides the underscore; Oniguruma's
// takes the fractions and superscripts of Latin-1 too.
constexpr std::string_view kWordSet =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";

// By the name of a script PCRE2 means characters that are used with it, the others those that are
// of it.
constexpr std::string_view kScripts[] = {
    "Arabic",   "Armenian",  "Bengali",   "Cyrillic", "Devanagari", "Ethiopic",
    "Georgian", "Greek",     "Gujarati",  "Gurmukhi", "Han",        "Hangul",
    "Hebrew",   "Hiragana",  "Kannada",   "Katakana", "Khmer",      "Lao",
    "Latin",    "Malayalam", "Mongolian", "Myanmar",  "Oriya",      "Sinhala",
    "Tamil",    "Telugu",    "Thaana",    "Thai",     "Tibetan",    "Bopomofo",
};
// No such class: makes the pattern fail to compile, which the caller reports.
constexpr std::string_view kNotExpressible = "[[:unsupported:]]";
constexpr int kDeepest = 8;

/// Rewrites a pattern in one pass; `m_atomStart` is where the last atom begins in the output.
class Translator {
public:
    Translator(std::string_view pattern, RegexDialect dialect)
        : m_in(pattern), m_isOniguruma(dialect == RegexDialect::kOniguruma) {}

    std::string run() {
        while (m_at < m_in.size()) {
            step();
        }
        return std::move(m_out);
    }

private:
    void step() {
        const char c = m_in[m_at];
        if (c == '\\') {
            beginAtom();
            m_out += escape(false);
        } else if (c == '[') {
            beginAtom();
            m_out += charClass(0);
        } else if (c == '(') {
            m_groups.push_back(m_out.size());
            take();
        } else if (c == ')') {
            if (!m_groups.empty()) {
                m_atomStart = m_groups.back();
                m_groups.pop_back();
            }
            take();
        } else if (c == '{' && m_isOniguruma) {
            interval();
        } else if (c == '*' || c == '+' || c == '?' || c == '|') {
            take();
        } else {
            beginAtom();
            do {
                take();
            } while (m_at < m_in.size() && (static_cast<unsigned char>(m_in[m_at]) & 0xC0) == 0x80);
        }
    }

    void beginAtom() { m_atomStart = m_out.size(); }
    void take() { m_out += m_in[m_at++]; }

    /// In Oniguruma's Ruby syntax `{n,m}+` repeats the repetition; in PCRE2 it is possessive.
    void interval() {
        const std::size_t close = m_in.find('}', m_at);
        if (close == std::string_view::npos) {
            take();
            return;
        }
        m_out += m_in.substr(m_at, close + 1 - m_at);
        m_at = close + 1;
        if (m_at < m_in.size() && m_in[m_at] == '+') {
            m_out.insert(m_atomStart, "(?:");
            m_out += ')';
        }
    }

    /// The escape at the input, for use inside or outside a class.
    std::string escape(bool isInClass) {
        if (m_at + 1 >= m_in.size()) {
            return std::string(m_in.substr(m_at++));
        }
        const char kind = m_in[m_at + 1];
        const auto set = [&](std::string_view members, bool isNegated) {
            m_at += 2;
            if (isInClass) {
                return std::string(members);
            }
            return (isNegated ? "[^" : "[") + std::string(members) + "]";
        };
        switch (kind) {
            case 's':
                return set(kSpaceSet, false);
            case 'w':
                return set(kWordSet, false);
            case 'S':
                if (!isInClass) {
                    return set(kSpaceSet, true);
                }
                break;
            case 'W':
                if (!isInClass) {
                    return set(kWordSet, true);
                }
                break;
            case 'b':
                if (!isInClass) {
                    m_at += 2;
                    return wordBorder();
                }
                break;
            case 'h':
                if (m_isOniguruma) {
                    return set("0-9a-fA-F", false);
                }
                break;
            case 'u':
                if (const std::string_view digits = m_in.substr(m_at + 2, 4);
                    digits.size() == 4 && digits.find('{') == std::string_view::npos) {
                    m_at += 6;
                    return "\\x{" + std::string(digits) + "}";
                }
                break;
            case 'p':
            case 'P':
                if (const std::size_t close = m_in.find('}', m_at);
                    close != std::string_view::npos && m_in.substr(m_at + 2, 1) == "{") {
                    const std::string_view name = m_in.substr(m_at + 3, close - m_at - 3);
                    const bool isScript = std::find(std::begin(kScripts), std::end(kScripts),
                                                    name) != std::end(kScripts);
                    m_at = close + 1;
                    return std::string("\\") + kind + (isScript ? "{sc:" : "{") +
                           std::string(name) + "}";
                }
                break;
            default:
                break;
        }
        std::string plain(m_in.substr(m_at, 2));
        m_at += 2;
        while (m_at < m_in.size() && (static_cast<unsigned char>(m_in[m_at]) & 0xC0) == 0x80) {
            plain += m_in[m_at++];
        }
        return plain;
    }

    /// `\b` by the same idea of a word.
    static std::string wordBorder() {
        const std::string word = "[" + std::string(kWordSet) + "]";
        return "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))";
    }

    /// The class at the input. Oniguruma's `[A&&[^B]]` becomes `(?:(?=[A])[^B])` and its `[a[bc]]`
    /// becomes `[abc]`; in GGUF's patterns a bracket inside a class is only itself.
    std::string charClass(int depth) {
        std::string members = "[";
        ++m_at;
        if (m_at < m_in.size() && m_in[m_at] == '^') {
            members += '^';
            ++m_at;
        }
        bool isFirst = true;
        while (m_at < m_in.size()) {
            const char c = m_in[m_at];
            if (c == ']' && !isFirst) {
                ++m_at;
                return members + "]";
            }
            isFirst = false;
            if (c == '\\') {
                members += escape(true);
            } else if (m_in.substr(m_at, 2) == "[:") {
                const std::size_t close = m_in.find(":]", m_at);
                const std::size_t end = close == std::string_view::npos ? m_at + 2 : close + 2;
                members += m_in.substr(m_at, end - m_at);
                m_at = end;
            } else if (m_isOniguruma && m_in.substr(m_at, 2) == "&&" && depth < kDeepest) {
                m_at += 2;
                const std::string rest = intersected(depth);
                return members.starts_with("[^") ? std::string(kNotExpressible)
                                                 : "(?:(?=" + members + "])" + rest + ")";
            } else if (m_isOniguruma && c == '[' && depth < kDeepest) {
                members += flattened(charClass(depth + 1));
            } else {
                members += c;
                ++m_at;
            }
        }
        return members;
    }

    /// The members of an inner class, to stand in the outer one.
    static std::string flattened(const std::string& inner) {
        if (!inner.starts_with("[") || inner.starts_with("[^") || !inner.ends_with("]")) {
            return std::string(kNotExpressible);
        }
        return inner.substr(1, inner.size() - 2);
    }

    /// What stands after `&&` up to the end of the class around it.
    std::string intersected(int depth) {
        if (m_at < m_in.size() && m_in[m_at] == '[') {
            std::string inner = charClass(depth + 1);
            if (m_at < m_in.size() && m_in[m_at] == ']') {
                ++m_at;
            }
            return inner;
        }
        --m_at;  // charClass skips an opening bracket
        return charClass(depth + 1);
    }

    std::string_view m_in;
    bool m_isOniguruma;
    std::size_t m_at = 0;
    std::string m_out;
    std::size_t m_atomStart = 0;
    std::vector<std::size_t> m_groups;
};

}  // namespace

bool looksFarAhead(std::string_view pattern) {
    std::vector<bool> groups;  // open ones: whether inside a look-ahead
    bool isInClass = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\') {
            ++i;
        } else if (isInClass) {
            isInClass = c != ']';
        } else if (c == '[') {
            isInClass = true;
        } else if (c == '(') {
            const std::string_view kind = pattern.substr(i + 1, 2);
            groups.push_back(kind == "?=" || kind == "?!" || (!groups.empty() && groups.back()));
            i += kind.starts_with('?') ? 1 : 0;
        } else if (c == ')' && !groups.empty()) {
            groups.pop_back();
        } else if ((c == '*' || c == '+') && !groups.empty() && groups.back()) {
            return true;
        }
    }
    return false;
}

std::string translateRegex(std::string_view pattern, RegexDialect dialect) {
    return Translator(pattern, dialect).run();
}

}  // namespace quern::engine::text
