#include "engine/text/wordpiece.h"

#include <algorithm>
#include <utility>

#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

std::size_t countChars(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

class WordPiece final : public TokenModel {
public:
    WordPiece(const Vocabulary& vocabulary, WordPieceOptions options)
        : m_vocabulary(vocabulary), m_options(std::move(options)) {
        for (TokenId id = 0; id < vocabulary.size(); ++id) {
            m_longestToken = std::max(m_longestToken, vocabulary.text(id).size());
        }
    }

    [[nodiscard]] Status encode(std::string_view piece, std::vector<TokenId>& out) const override {
        const std::size_t before = out.size();
        bool isWhole = countChars(piece) <= m_options.longestWord;
        std::string spelling;
        for (std::size_t begin = 0; begin < piece.size() && isWhole;) {
            const std::string& prefix =
                begin == 0 ? m_options.firstPrefix : m_options.continuingPrefix;
            std::size_t end = std::min(piece.size(), begin + m_longestToken);
            while (end < piece.size() && (static_cast<unsigned char>(piece[end]) & 0xC0) == 0x80) {
                --end;
            }
            std::optional<TokenId> found;
            while (end > begin) {
                spelling.assign(prefix).append(piece.substr(begin, end - begin));
                found = m_vocabulary.findText(spelling);
                if (found) {
                    break;
                }
                end = begin + lastCharStart(piece.substr(begin, end - begin));
            }
            if (found) {
                out.push_back(*found);
                begin = end;
            } else {
                isWhole = false;
            }
        }
        if (isWhole) {
            return {};
        }
        out.resize(before);
        if (!m_options.unknown) {
            return Fallback::noToken(piece);
        }
        out.push_back(*m_options.unknown);
        return {};
    }

private:
    const Vocabulary& m_vocabulary;
    WordPieceOptions m_options;
    std::size_t m_longestToken = 1;
};

class WordLevel final : public TokenModel {
public:
    WordLevel(const Vocabulary& vocabulary, std::optional<TokenId> unknown)
        : m_vocabulary(vocabulary), m_unknown(unknown) {}

    [[nodiscard]] Status encode(std::string_view piece, std::vector<TokenId>& out) const override {
        std::optional<TokenId> id = m_vocabulary.findText(piece);
        if (!id) {
            id = m_unknown;
        }
        if (!id) {
            return Fallback::noToken(piece);
        }
        out.push_back(*id);
        return {};
    }

private:
    const Vocabulary& m_vocabulary;
    std::optional<TokenId> m_unknown;
};

}  // namespace

std::unique_ptr<TokenModel> makeWordPiece(const Vocabulary& vocabulary, WordPieceOptions options) {
    return std::make_unique<WordPiece>(vocabulary, std::move(options));
}

std::unique_ptr<TokenModel> makeWordLevel(const Vocabulary& vocabulary,
                                          std::optional<TokenId> unknown) {
    return std::make_unique<WordLevel>(vocabulary, unknown);
}

}  // namespace quern::engine::text
