#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/pretokenizer_regex.h"

namespace quern::engine::text {

/// One step from a token's spelling to its text. Immutable; any thread.
class DecoderStep {
public:
    virtual ~DecoderStep() = default;
    /// Rewrites `token`. `isFirst`: it begins the text. Its only error is growsTooLong.
    [[nodiscard]] virtual Status apply(std::string& token, bool isFirst) const = 0;
};
using DecoderStepPtr = std::unique_ptr<const DecoderStep>;

[[nodiscard]] DecoderStepPtr makeByteLevelDecoder();
[[nodiscard]] DecoderStepPtr makeByteFallbackDecoder();
/// Spellings that hold bytes as in tokenizer_utf8.h: those bytes.
[[nodiscard]] DecoderStepPtr makeUnescapeDecoder();
[[nodiscard]] DecoderStepPtr makeReplaceDecoder(std::string pattern, std::string content);
[[nodiscard]] DecoderStepPtr makeReplaceRegexDecoder(Regex pattern, std::string content);
/// `drops`: the first token loses its marks.
[[nodiscard]] DecoderStepPtr makeMetaspaceDecoder(std::string replacement, bool drops);
[[nodiscard]] DecoderStepPtr makeWordPieceDecoder(std::string prefix, bool cleansUp);
/// `suffix` at a token's end becomes a space.
[[nodiscard]] DecoderStepPtr makeSuffixDecoder(std::string suffix);
/// Trims up to `start` and `stop` times the character `content` from each token.
[[nodiscard]] DecoderStepPtr makeStripDecoder(std::string content, std::size_t start,
                                              std::size_t stop);
/// Tokens are words: a space before each but the first.
[[nodiscard]] DecoderStepPtr makeJoinDecoder();

/// Tokens back to text. All formats decode token by token, besides what they do to the ends of the
/// whole text; so text can be made as tokens come.
struct TextDecoder {
    std::vector<DecoderStepPtr> steps;
    std::string trimmed;         // the character that is taken from the whole text's ends
    std::size_t trimsStart = 0;  // at most so often
    std::size_t trimsEnd = 0;
    std::string endMark;  // not empty: the end is trimmed only where the last token has this mark

    /// The text of one token, before the ends are trimmed. Its only error is growsTooLong; that of
    /// a token comes always or never.
    [[nodiscard]] Result<std::string> decode(std::string_view spelling, bool isFirst) const;
    /// Trims an end of the whole text.
    void trimStart(std::string& text) const;
    void trimEnd(std::string& text) const;
};

}  // namespace quern::engine::text
