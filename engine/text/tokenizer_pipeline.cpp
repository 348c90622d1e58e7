#include "engine/text/tokenizer_pipeline.h"

#include <algorithm>
#include <utility>

#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

/// A tokenizer of any format: runs its parts in their order. Immutable; any thread.
class PipelineTokenizer final : public Tokenizer {
public:
    explicit PipelineTokenizer(TokenizerParts parts) : m_parts(std::move(parts)) {}

    /// Makes the texts of all tokens; to be called once, first.
    Status decodeAll() {
        m_offsets.reserve(static_cast<std::size_t>(vocabSize()) + 1);
        std::size_t spelled = static_cast<std::size_t>(vocabSize());
        for (TokenId id = 0; id < vocabSize(); ++id) {
            m_offsets.push_back(m_bytes.size());
            auto text = textOf(id, false);
            if (!text) {
                return forward(text);
            }
            m_bytes += *text;
            spelled += m_parts.vocabulary->text(id).size();
            if (m_bytes.size() > mostGrownBytes(spelled)) {
                return growsTooLong("decoder", spelled);
            }
            // A first token's text is made when it is asked for, and must not fail then.
            if (m_parts.decoder.steps.size() > 1) {
                if (auto first = textOf(id, true); !first) {
                    return forward(first);
                }
            }
        }
        m_offsets.push_back(m_bytes.size());
        return {};
    }

    [[nodiscard]] std::int32_t vocabSize() const override { return m_parts.vocabulary->size(); }

    [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text,
                                                      EncodeOptions options) const override {
        std::string escaped;
        if (needsEscape(text)) {
            escaped = escapeInvalid(text);
            text = escaped;
        }
        std::vector<TokenId> ids;
        ids.reserve(text.size() / 4 + 8);
        for (const TextSegment& segment : m_parts.added.split(text, options.parseSpecial)) {
            if (segment.id >= 0) {
                ids.push_back(segment.id);
                continue;
            }
            const bool isAtStart = segment.text.data() == text.data();
            if (Status status = encodeText(segment.text, isAtStart, options.parseSpecial, ids);
                !status) {
                return forward(status);
            }
        }
        if (options.addSpecial) {
            addSpecial(ids, options);
        }
        return ids;
    }

    [[nodiscard]] Result<EncodedPair> encodePair(std::string_view first,
                                                 std::string_view second) const override {
        if (!m_parts.pair) {
            return Tokenizer::encodePair(first, second);
        }
        const PairParts& around = *m_parts.pair;
        const auto head = encode(first, {});
        const auto tail = encode(second, {});
        if (!head || !tail) {
            return tl::unexpected<Error>(head ? tail.error() : head.error());
        }
        EncodedPair pair{.ids = around.before};
        pair.ids.insert(pair.ids.end(), head->begin(), head->end());
        pair.ids.insert(pair.ids.end(), around.between.begin(), around.between.end());
        pair.secondFrom = std::ssize(pair.ids);
        pair.hasTypes = around.hasSecondType;
        pair.ids.insert(pair.ids.end(), tail->begin(), tail->end());
        pair.ids.insert(pair.ids.end(), around.behind.begin(), around.behind.end());
        return pair;
    }

    [[nodiscard]] std::string_view tokenBytes(TokenId id) const override {
        if (id < 0 || id >= vocabSize()) {
            return {};
        }
        const auto at = static_cast<std::size_t>(id);
        return std::string_view(m_bytes).substr(m_offsets[at], m_offsets[at + 1] - m_offsets[at]);
    }

    [[nodiscard]] bool isControl(TokenId id) const override {
        return id >= 0 && id < vocabSize() && m_parts.vocabulary->isControl(id);
    }

    [[nodiscard]] std::string decode(std::span<const TokenId> ids,
                                     bool skipSpecial) const override {
        std::string text;
        bool isFirst = true;
        std::string_view last;
        for (const TokenId id : ids) {
            if (id < 0 || id >= vocabSize() || (skipSpecial && isControl(id))) {
                continue;
            }
            last = m_parts.vocabulary->text(id);
            if (isFirst) {
                text += textOf(id, true).value_or("");
            } else {
                text += tokenBytes(id);
            }
            isFirst = false;
        }
        m_parts.decoder.trimStart(text);
        if (last.find(m_parts.decoder.endMark) != std::string_view::npos) {
            m_parts.decoder.trimEnd(text);
        }
        return text;
    }

    [[nodiscard]] std::string leadingBytes(TokenId id) const override {
        if (id < 0 || id >= vocabSize()) {
            return {};
        }
        std::string text = textOf(id, true).value_or("");
        m_parts.decoder.trimStart(text);
        return text;
    }

    [[nodiscard]] std::optional<TokenId> find(std::string_view piece) const override {
        return m_parts.vocabulary->find(needsEscape(piece) ? escapeInvalid(piece)
                                                           : std::string(piece));
    }
    [[nodiscard]] const SpecialTokens& special() const override { return m_parts.special; }
    [[nodiscard]] std::string description() const override { return m_parts.description; }
    [[nodiscard]] bool addsSpacePrefix() const override { return m_parts.addsSpacePrefix; }

private:
    [[nodiscard]] Result<std::string> textOf(TokenId id, bool isFirst) const {
        const TokenKind kind = m_parts.vocabulary->kind(id);
        const auto normalized = m_parts.normalizedSpellings.find(id);
        const std::string_view spelling = normalized != m_parts.normalizedSpellings.end()
                                              ? normalized->second
                                              : m_parts.vocabulary->text(id);
        const bool isAdded = m_parts.vocabulary->isControl(id) || kind == TokenKind::kUserDefined;
        if (isAdded && m_parts.decodesAddedAsSpelled) {
            std::string text;
            appendUnescaped(text, spelling);
            return text;
        }
        return m_parts.decoder.decode(spelling, isFirst);
    }

    [[nodiscard]] Status encodeText(std::string_view text, bool isAtStart, bool parseSpecial,
                                    std::vector<TokenId>& ids) const {
        std::string normalized;
        if (m_parts.normalizer) {
            auto applied = m_parts.normalizer->apply(text);
            if (!applied) {
                return forward(applied);
            }
            normalized = std::move(*applied);
            text = normalized;
        }
        for (const TextSegment& segment : m_parts.addedNormalized.split(text, parseSpecial)) {
            if (segment.id >= 0) {
                ids.push_back(segment.id);
                continue;
            }
            Pieces pieces(segment.text, isAtStart && segment.text.data() == text.data());
            for (const PreTokenizerPtr& step : m_parts.preTokenizers) {
                step->apply(pieces);
                if (pieces.text().size() > mostGrownBytes(segment.text.size())) {
                    return growsTooLong("pre-tokenizer", segment.text.size());
                }
            }
            for (const Pieces::Span& span : pieces.spans()) {
                if (Status status = m_parts.model->encode(pieces.at(span), ids); !status) {
                    return status;
                }
            }
        }
        return {};
    }

    void addSpecial(std::vector<TokenId>& ids, EncodeOptions options) const {
        const std::vector<TokenId>& prefix = m_parts.prefix;
        const bool isThere = options.parseSpecial && ids.size() >= prefix.size() &&
                             std::equal(prefix.begin(), prefix.end(), ids.begin());
        if (!isThere) {
            ids.insert(ids.begin(), prefix.begin(), prefix.end());
        }
        if (options.addEnd) {
            ids.insert(ids.end(), m_parts.suffix.begin(), m_parts.suffix.end());
        }
    }

    TokenizerParts m_parts;
    std::string m_bytes;  // of all tokens, one after the other
    std::vector<std::size_t> m_offsets;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> makeTokenizer(TokenizerParts parts) {
    auto tokenizer = std::make_shared<PipelineTokenizer>(std::move(parts));
    if (auto status = tokenizer->decodeAll(); !status) {
        return forward(status);
    }
    return tokenizer;
}

}  // namespace quern::engine::text
