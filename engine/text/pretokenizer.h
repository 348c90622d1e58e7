#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/pretokenizer_regex.h"

namespace quern::engine::text {

/// A text cut into pieces; the model encodes each by itself. Borrows the text until a step rewrites
/// it.
class Pieces {
public:
    struct Span {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    /// One piece. `isAtStart`: it is the beginning of what the user wrote.
    Pieces(std::string_view text, bool isAtStart);
    Pieces(const Pieces&) = delete;
    Pieces& operator=(const Pieces&) = delete;

    [[nodiscard]] const std::vector<Span>& spans() const { return m_spans; }
    [[nodiscard]] std::string_view at(const Span& span) const {
        return m_text.substr(span.begin, span.end - span.begin);
    }
    [[nodiscard]] std::string_view text() const { return m_text; }
    /// Whether this is the piece at the beginning of what the user wrote.
    [[nodiscard]] bool isFirst(const Span& span) const { return m_isAtStart && span.begin == 0; }

    /// New borders in the same text. Empty spans must not be in it.
    void setSpans(std::vector<Span> spans) { m_spans = std::move(spans); }
    /// Another text with its borders.
    void setText(std::string text, std::vector<Span> spans);

private:
    std::string m_owned;
    std::string_view m_text;
    std::vector<Span> m_spans;
    bool m_isAtStart;
};

/// A step that cuts pieces further or rewrites them. Immutable; any thread.
class PreTokenizer {
public:
    virtual ~PreTokenizer() = default;
    virtual void apply(Pieces& pieces) const = 0;
};
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

/// What becomes of the text that a pattern matches; the names of tokenizer.json.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

[[nodiscard]] PreTokenizerPtr makeRegexSplit(Regex regex, SplitBehavior behavior, bool isInverted);
/// `pattern` as it stands; not empty.
[[nodiscard]] PreTokenizerPtr makeStringSplit(std::string pattern, SplitBehavior behavior,
                                              bool isInverted);
/// Cuts at characters of a kind.
[[nodiscard]] PreTokenizerPtr makeCharSplit(bool (*isKind)(char32_t), SplitBehavior behavior);
/// Keeps words and runs of what is neither word nor white space.
[[nodiscard]] PreTokenizerPtr makeWordSplit();
/// Cuts after every `length` characters (at least 1).
[[nodiscard]] PreTokenizerPtr makeFixedLength(std::size_t length);
/// Pieces begin with a space.
[[nodiscard]] PreTokenizerPtr makePrefixSpace();
/// Every byte as a printable character, as GPT-2 has it.
[[nodiscard]] PreTokenizerPtr makeByteLevel();

enum class PrependScheme { kNever, kFirst, kAlways };
/// Spaces become `replacement`, and pieces begin with it.
[[nodiscard]] PreTokenizerPtr makeMetaspace(std::string replacement, PrependScheme scheme,
                                            bool splits);

/// The character that stands for a byte, in UTF-8.
[[nodiscard]] std::string_view byteLevelChar(unsigned char byte);
/// The byte that a character stands for; -1 where it stands for none.
[[nodiscard]] int byteOfLevelChar(char32_t c);
/// Appends escaped text in the byte alphabet.
void appendByteLevel(std::string& out, std::string_view text);

/// GPT-2's splitting pattern, which ByteLevel applies unless told not to.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace quern::engine::text
