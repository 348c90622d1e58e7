#include "engine/text/longest_match.h"

#include <utility>
#include <vector>

#include "engine/text/tokenizer_trie.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

class LongestMatch final : public TokenModel {
public:
    LongestMatch(const Vocabulary& vocabulary, std::optional<TokenId> unknown)
        : m_unknown(unknown) {
        std::vector<std::pair<std::string, TokenId>> spelled;
        for (TokenId id = 0; id < vocabulary.size(); ++id) {
            if (vocabulary.findText(vocabulary.text(id)) == id) {
                std::string bytes;
                appendUnescaped(bytes, vocabulary.text(id));
                spelled.emplace_back(std::move(bytes), id);
            }
        }
        std::vector<std::pair<std::string_view, std::int32_t>> entries;
        entries.reserve(spelled.size());
        for (const auto& [bytes, id] : spelled) {
            entries.emplace_back(bytes, id);
        }
        m_trie.build(std::move(entries));
    }

    [[nodiscard]] Status encode(std::string_view piece, std::vector<TokenId>& out) const override {
        std::string bytes;
        appendUnescaped(bytes, piece);
        for (std::size_t begin = 0; begin < bytes.size();) {
            TokenId longest = -1;
            std::size_t next = begin + 1;
            ByteTrie::Node node = m_trie.first(static_cast<unsigned char>(bytes[begin]));
            for (std::size_t at = begin + 1; node != ByteTrie::kNone; ++at) {
                if (const TokenId id = m_trie.value(node); id >= 0) {
                    longest = id;
                    next = at;
                }
                if (at == bytes.size()) {
                    break;
                }
                node = m_trie.child(node, static_cast<unsigned char>(bytes[at]));
            }
            if (longest >= 0) {
                out.push_back(longest);
            } else if (m_unknown) {
                out.push_back(*m_unknown);
            }
            begin = next;
        }
        return {};
    }

private:
    std::optional<TokenId> m_unknown;
    ByteTrie m_trie;
};

int hexDigit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

}  // namespace

std::unique_ptr<TokenModel> makeLongestMatch(const Vocabulary& vocabulary,
                                             std::optional<TokenId> unknown) {
    return std::make_unique<LongestMatch>(vocabulary, unknown);
}

std::string unescapeWorldToken(std::string_view spelling) {
    std::string bytes;
    bytes.reserve(spelling.size());
    for (std::size_t i = 0; i < spelling.size(); ++i) {
        if (spelling[i] != '\\' || i + 1 == spelling.size()) {
            bytes += spelling[i];
            continue;
        }
        const char c = spelling[++i];
        const int high = i + 2 < spelling.size() ? hexDigit(spelling[i + 1]) : -1;
        const int low = i + 2 < spelling.size() ? hexDigit(spelling[i + 2]) : -1;
        if (c == 'x' && high >= 0 && low >= 0) {
            bytes += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            bytes += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
    }
    return bytes;
}

}  // namespace quern::engine::text
