#include "engine/text/unigram.h"

#include <algorithm>
#include <utility>

#include "engine/text/tokenizer_trie.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

constexpr double kUnknownPenalty = 10.0;

class Unigram final : public TokenModel {
public:
    Unigram(const Vocabulary& vocabulary, UnigramOptions options)
        : m_fallback(vocabulary, options.hasByteTokens, options.unknown),
          m_scores(std::move(options.scores)) {
        std::vector<std::pair<std::string_view, std::int32_t>> entries;
        double least = 0.0;
        for (TokenId id = 0; id < vocabulary.size(); ++id) {
            if (vocabulary.kind(id) == TokenKind::kNormal) {
                least = std::min(least, m_scores[static_cast<std::size_t>(id)]);
            }
            const std::string_view text = vocabulary.text(id);
            if (vocabulary.findText(text) == id) {
                entries.emplace_back(text, id);
            }
        }
        m_unknownScore = least - kUnknownPenalty;
        m_trie.build(std::move(entries));
    }

    [[nodiscard]] Status encode(std::string_view piece, std::vector<TokenId>& out) const override {
        const std::vector<Step> best = bestPath(piece);
        const std::size_t before = out.size();
        // From the end, so the tokens come out in reverse; runs of unknown characters as one.
        for (std::size_t end = piece.size(); end > 0;) {
            std::size_t begin = best[end].begin;
            if (best[end].id >= 0) {
                out.push_back(best[end].id);
            } else {
                while (begin > 0 && best[begin].id < 0) {
                    begin = best[begin].begin;
                }
                const std::size_t from = out.size();
                if (appendBytes(piece.substr(begin, end - begin), out)) {
                    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(from), out.end());
                } else if (m_fallback.unknown()) {
                    out.push_back(*m_fallback.unknown());
                } else {
                    return Fallback::noToken(piece.substr(begin));
                }
            }
            end = begin;
        }
        std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
        return {};
    }

private:
    /// How the most likely spelling reaches a position: by a token (-1: unknown) from `begin`.
    struct Step {
        double score = 0.0;
        std::size_t begin = kUnreached;
        TokenId id = -1;
    };
    static constexpr std::size_t kUnreached = static_cast<std::size_t>(-1);

    [[nodiscard]] std::vector<Step> bestPath(std::string_view piece) const {
        std::vector<Step> best(piece.size() + 1);
        const auto offer = [&](std::size_t end, const Step& step) {
            if (best[end].begin == kUnreached || step.score > best[end].score) {
                best[end] = step;
            }
        };
        for (std::size_t begin = 0; begin < piece.size();) {
            const double score = best[begin].score;
            const std::size_t length = decodeValidUtf8(piece, begin).length;
            bool hasSingle = false;
            ByteTrie::Node node = ByteTrie::kRoot;
            for (std::size_t end = begin; end < piece.size();) {
                const auto byte = static_cast<unsigned char>(piece[end]);
                node = node == ByteTrie::kRoot ? m_trie.first(byte) : m_trie.child(node, byte);
                if (node == ByteTrie::kNone) {
                    break;
                }
                ++end;
                if (const TokenId id = m_trie.value(node); id >= 0) {
                    offer(end, {.score = score + m_scores[static_cast<std::size_t>(id)],
                                .begin = begin,
                                .id = id});
                    hasSingle = hasSingle || end - begin == length;
                }
            }
            if (!hasSingle) {
                offer(begin + length, {.score = score + m_unknownScore, .begin = begin, .id = -1});
            }
            begin += length;
        }
        return best;
    }

    /// The byte tokens of every character, or none.
    [[nodiscard]] bool appendBytes(std::string_view text, std::vector<TokenId>& out) const {
        const std::size_t before = out.size();
        for (std::size_t i = 0; i < text.size();) {
            const std::size_t length = decodeValidUtf8(text, i).length;
            if (!m_fallback.appendBytes(text.substr(i, length), out)) {
                out.resize(before);
                return false;
            }
            i += length;
        }
        return true;
    }

    Fallback m_fallback;
    std::vector<double> m_scores;
    double m_unknownScore = 0.0;
    ByteTrie m_trie;
};

}  // namespace

std::unique_ptr<TokenModel> makeUnigram(const Vocabulary& vocabulary, UnigramOptions options) {
    return std::make_unique<Unigram>(vocabulary, std::move(options));
}

}  // namespace quern::engine::text
