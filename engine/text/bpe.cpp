#include "engine/text/bpe.h"

#include <array>
#include <bit>
#include <unordered_map>

#include "engine/text/bpe_merge.h"
#include "engine/text/spm.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

/// A token's id, or beyond the vocabulary's end a spelling that only merges know.
using Symbol = std::int32_t;

struct Merge {
    std::uint32_t rank = kNoMerge;
    Symbol result = -1;
};

/// Merges by the pair they join. Filled once.
class MergeTable {
public:
    void reserve(std::size_t merges) { m_slots.assign(std::bit_ceil(merges * 2 + 2), Slot{}); }

    void add(Symbol left, Symbol right, Merge merge, bool replaces) {
        Slot& slot = m_slots[slotOf(keyOf(left, right))];
        if (slot.key == kFree || replaces) {
            slot = {.key = keyOf(left, right), .merge = merge};
        }
    }
    [[nodiscard]] Merge find(Symbol left, Symbol right) const {
        return m_slots[slotOf(keyOf(left, right))].merge;
    }

private:
    static constexpr std::uint64_t kFree = ~std::uint64_t{0};
    struct Slot {
        std::uint64_t key = kFree;
        Merge merge;
    };
    static std::uint64_t keyOf(Symbol left, Symbol right) {
        return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
               static_cast<std::uint32_t>(right);
    }
    [[nodiscard]] std::size_t slotOf(std::uint64_t key) const {
        const std::size_t mask = m_slots.size() - 1;
        const std::uint64_t mixed = key * 0x9E3779B97F4A7C15ULL;
        auto at = static_cast<std::size_t>(mixed ^ (mixed >> 32)) & mask;
        while (m_slots[at].key != key && m_slots[at].key != kFree) {
            at = (at + 1) & mask;
        }
        return at;
    }
    std::vector<Slot> m_slots;
};

class Bpe final : public TokenModel {
public:
    Bpe(const Vocabulary& vocabulary, const BpeOptions& options)
        : m_vocabulary(vocabulary),
          m_fallback(vocabulary, options.hasByteTokens, options.unknown),
          m_self(vocabulary.size()),
          m_fusesUnknown(options.fusesUnknown),
          m_ignoresMerges(options.ignoresMerges),
          m_continuingPrefix(options.continuingPrefix),
          m_endSuffix(options.endSuffix),
          m_isPlain(options.continuingPrefix.empty() && options.endSuffix.empty()) {
        m_charTokens.fill(-1);
        std::string spelling;
        for (std::size_t c = 0; c < m_charTokens.size(); ++c) {
            spelling.clear();
            appendUtf8(spelling, static_cast<char32_t>(c));
            m_charTokens[c] = vocabulary.findText(spelling).value_or(-1);
        }
        addMerges(options);
        // Where characters may be left out, what stands at both sides of one can merge.
        const bool keepsAll = options.unknown.has_value();
        if (m_isPlain && m_extra.empty() && keepsAll && vocabulary.findText(kSpaceMark)) {
            m_borders.emplace(vocabulary);
        }
    }

    [[nodiscard]] Status encode(std::string_view piece, std::vector<TokenId>& out) const override {
        if (!m_borders) {
            encodePart(piece, out);
            return {};
        }
        if (m_ignoresMerges) {
            if (const std::optional<TokenId> whole = m_vocabulary.findText(piece)) {
                out.push_back(*whole);
                return {};
            }
        }
        for (std::size_t begin = 0; begin < piece.size();) {
            const std::size_t end = m_borders->next(piece, begin);
            encodePart(piece.substr(begin, end - begin), out);
            begin = end;
        }
        return {};
    }

private:
    void encodePart(std::string_view piece, std::vector<TokenId>& out) const {
        std::optional<TokenId> whole;
        if (m_isPlain || m_ignoresMerges) {
            whole = m_vocabulary.findText(piece);
            const bool mayIgnore = m_ignoresMerges && !m_borders;
            if (whole && (mayIgnore || m_self.state(*whole) == SelfTokens::kYes)) {
                out.push_back(*whole);
                return;
            }
        }
        const std::size_t before = out.size();
        merge(piece, out);
        if (whole && m_isPlain) {
            m_self.learn(*whole, out, before);
        }
    }

    void addMerges(const BpeOptions& options) {
        m_merges.reserve(options.merges.size());
        std::unordered_map<std::string, Symbol> extra;
        const auto symbolOf = [&](const std::string& spelling) {
            if (const auto id = m_vocabulary.findText(spelling)) {
                return *id;
            }
            const auto next =
                static_cast<Symbol>(static_cast<std::size_t>(m_vocabulary.size()) + m_extra.size());
            const auto [found, isNew] = extra.emplace(spelling, next);
            if (isNew) {
                m_extra.push_back(spelling);
            }
            return found->second;
        };
        std::string left;
        std::string right;
        for (std::size_t rank = 0; rank < options.merges.size(); ++rank) {
            left.assign(options.merges[rank].first);
            right.assign(options.merges[rank].second);
            const Symbol leftSymbol = symbolOf(left);
            const Symbol rightSymbol = symbolOf(right);
            const bool hasPrefix =
                !m_continuingPrefix.empty() && right.starts_with(m_continuingPrefix);
            left.append(right, hasPrefix ? m_continuingPrefix.size() : 0);
            m_merges.add(leftSymbol, rightSymbol,
                         {.rank = static_cast<std::uint32_t>(rank), .result = symbolOf(left)},
                         options.lastRankHolds);
        }
    }

    void merge(std::string_view piece, std::vector<TokenId>& out) const {
        std::vector<Symbol> symbols;
        symbols.reserve(piece.size());
        appendChars(piece, symbols);
        std::vector<std::uint32_t> scratch;
        mergeSymbols(
            symbols, scratch,
            [this](Symbol left, Symbol right) { return m_merges.find(left, right).rank; },
            [this](Symbol left, Symbol right) { return m_merges.find(left, right).result; });
        for (const Symbol symbol : symbols) {
            if (symbol < m_vocabulary.size()) {
                out.push_back(symbol);
            } else {
                appendChars(extraText(symbol), out);
            }
        }
    }

    [[nodiscard]] std::string_view extraText(Symbol symbol) const {
        return m_extra[static_cast<std::size_t>(symbol - m_vocabulary.size())];
    }

    /// Appends the symbols that a piece begins as: one a character. The reference leaves out
    /// characters for which there is neither a token nor an unknown one.
    void appendChars(std::string_view piece, std::vector<Symbol>& symbols) const {
        bool wasUnknown = false;
        for (std::size_t i = 0; i < piece.size();) {
            const DecodedChar c = decodeValidUtf8(piece, i);
            const std::string_view text = piece.substr(i, c.length);
            const Symbol symbol = charSymbol(c.codepoint, text, i, piece.size());
            i += c.length;
            if (symbol >= 0) {
                symbols.push_back(symbol);
                wasUnknown = false;
            } else if (m_fallback.appendBytes(text, symbols)) {
                wasUnknown = false;
            } else if (m_fallback.unknown()) {
                if (!wasUnknown || !m_fusesUnknown) {
                    symbols.push_back(*m_fallback.unknown());
                }
                wasUnknown = true;
            }
        }
    }

    [[nodiscard]] Symbol charSymbol(char32_t c, std::string_view text, std::size_t position,
                                    std::size_t size) const {
        if (m_isPlain) {
            return c < m_charTokens.size() ? m_charTokens[c]
                                           : m_vocabulary.findText(text).value_or(-1);
        }
        std::string spelling = position > 0 ? m_continuingPrefix : std::string();
        spelling += text;
        if (position + text.size() == size) {
            spelling += m_endSuffix;
        }
        return m_vocabulary.findText(spelling).value_or(-1);
    }

    const Vocabulary& m_vocabulary;
    Fallback m_fallback;
    SelfTokens m_self;
    bool m_fusesUnknown;
    bool m_ignoresMerges;
    std::string m_continuingPrefix;
    std::string m_endSuffix;
    bool m_isPlain;
    std::array<Symbol, 0x200> m_charTokens{};
    MergeTable m_merges;
    std::optional<SpaceBorders> m_borders;
    std::vector<std::string> m_extra;  // spellings of symbols that are no tokens
};

}  // namespace

Result<std::unique_ptr<TokenModel>> makeBpe(const Vocabulary& vocabulary,
                                            const BpeOptions& options) {
    if (options.unknown && !vocabulary.contains(*options.unknown)) {
        return fail(ErrorCode::kCorrupt, "unknown token " + std::to_string(*options.unknown) +
                                             " is not in the vocabulary of " +
                                             std::to_string(vocabulary.size()) + " tokens");
    }
    return std::make_unique<Bpe>(vocabulary, options);
}

}  // namespace quern::engine::text
