#include "engine/text/spm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "engine/text/bpe_merge.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

/// A stretch of the piece, and the token it spells (-1: none).
struct Symbol {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    TokenId id = -1;
};

class SentencePieceBpe final : public TokenModel {
public:
    SentencePieceBpe(const Vocabulary& vocabulary, const std::vector<float>& scores,
                     std::optional<TokenId> unknown)
        : m_vocabulary(vocabulary),
          m_fallback(vocabulary, true, unknown),
          m_self(vocabulary.size()),
          m_borders(vocabulary),
          m_ranks(ranksOf(scores)) {}

    [[nodiscard]] Status encode(std::string_view piece, std::vector<TokenId>& out) const override {
        std::vector<Symbol> symbols;
        std::vector<std::uint32_t> scratch;
        for (std::size_t begin = 0; begin < piece.size();) {
            const std::size_t end = m_borders.next(piece, begin);
            if (Status status = encodePart(piece.substr(begin, end - begin), symbols, scratch, out);
                !status) {
                return status;
            }
            begin = end;
        }
        return {};
    }

private:
    /// Equal scores, equal rank: then the leftmost pair goes first.
    static std::vector<std::uint32_t> ranksOf(const std::vector<float>& scores) {
        std::vector<float> sorted = scores;
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
        std::vector<std::uint32_t> ranks;
        ranks.reserve(scores.size());
        for (const float score : scores) {
            const auto at = std::lower_bound(sorted.begin(), sorted.end(), score, std::greater<>());
            ranks.push_back(static_cast<std::uint32_t>(at - sorted.begin()));
        }
        return ranks;
    }

    [[nodiscard]] Status encodePart(std::string_view part, std::vector<Symbol>& symbols,
                                    std::vector<std::uint32_t>& scratch,
                                    std::vector<TokenId>& out) const {
        if (part.size() >= kNoMerge) {
            return fail(ErrorCode::kInvalidArgument, "a text of " + std::to_string(part.size()) +
                                                         " bytes is too long for one piece");
        }
        const std::optional<TokenId> whole = m_vocabulary.findText(part);
        if (whole && m_self.state(*whole) == SelfTokens::kYes) {
            out.push_back(*whole);
            return {};
        }
        symbols.clear();
        for (std::size_t i = 0; i < part.size();) {
            const std::size_t length = decodeValidUtf8(part, i).length;
            symbols.push_back({.begin = static_cast<std::uint32_t>(i),
                               .end = static_cast<std::uint32_t>(i + length),
                               .id = m_vocabulary.findText(part.substr(i, length)).value_or(-1)});
            i += length;
        }
        const auto joined = [&](const Symbol& left, const Symbol& right) {
            return m_vocabulary.findText(part.substr(left.begin, right.end - left.begin));
        };
        mergeSymbols(
            symbols, scratch,
            [&](const Symbol& left, const Symbol& right) {
                const std::optional<TokenId> id = joined(left, right);
                return id ? m_ranks[static_cast<std::size_t>(*id)] : kNoMerge;
            },
            [&](const Symbol& left, const Symbol& right) {
                return Symbol{
                    .begin = left.begin, .end = right.end, .id = joined(left, right).value_or(-1)};
            });
        const std::size_t before = out.size();
        for (const Symbol& symbol : symbols) {
            const std::string_view text = part.substr(symbol.begin, symbol.end - symbol.begin);
            if (symbol.id >= 0) {
                out.push_back(symbol.id);
            } else if (m_fallback.appendBytes(text, out)) {
                continue;
            } else if (m_fallback.unknown()) {
                out.push_back(*m_fallback.unknown());
            } else {
                return Fallback::noToken(text);
            }
        }
        if (whole) {
            m_self.learn(*whole, out, before);
        }
        return {};
    }

    const Vocabulary& m_vocabulary;
    Fallback m_fallback;
    SelfTokens m_self;
    SpaceBorders m_borders;
    std::vector<std::uint32_t> m_ranks;
};

}  // namespace

Result<std::unique_ptr<TokenModel>> makeSentencePieceBpe(const Vocabulary& vocabulary,
                                                         const std::vector<float>& scores,
                                                         std::optional<TokenId> unknown) {
    const auto bad = std::find_if(scores.begin(), scores.end(),
                                  [](float score) { return !std::isfinite(score); });
    if (bad != scores.end()) {
        return fail(ErrorCode::kCorrupt, "the score of token " +
                                             std::to_string(bad - scores.begin()) +
                                             " is not a finite number");
    }
    return std::make_unique<SentencePieceBpe>(vocabulary, scores, unknown);
}

SpaceBorders::SpaceBorders(const Vocabulary& vocabulary) {
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const std::string_view text = vocabulary.text(id);
        for (std::size_t at = text.find(kSpaceMark, 1); at != std::string_view::npos;
             at = text.find(kSpaceMark, at + 1)) {
            m_before.push_back(decodeValidUtf8(text, lastCharStart(text.substr(0, at))).codepoint);
        }
    }
    std::sort(m_before.begin(), m_before.end());
    m_before.erase(std::unique(m_before.begin(), m_before.end()), m_before.end());
}

std::size_t SpaceBorders::next(std::string_view text, std::size_t begin) const {
    for (std::size_t at = text.find(kSpaceMark, begin + 1); at != std::string_view::npos;
         at = text.find(kSpaceMark, at + 1)) {
        const char32_t before = decodeValidUtf8(text, lastCharStart(text.substr(0, at))).codepoint;
        if (!std::binary_search(m_before.begin(), m_before.end(), before)) {
            return at;
        }
    }
    return text.size();
}

}  // namespace quern::engine::text
