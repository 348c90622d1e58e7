#include "engine/text/pretokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/text/tokenizer_unicode.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

using Span = Pieces::Span;

/// A stretch of a piece that a pattern matched or left.
struct Stretch {
    Span span;
    bool isMatch;
};

/// Writes the pieces that `stretches` (all of a piece, in order) become.
void join(const std::vector<Stretch>& stretches, SplitBehavior behavior, std::vector<Span>& out) {
    const auto put = [&](const Span& span) {
        if (span.end > span.begin) {
            out.push_back(span);
        }
    };
    if (behavior == SplitBehavior::kRemoved || behavior == SplitBehavior::kIsolated) {
        for (const Stretch& stretch : stretches) {
            if (!stretch.isMatch || behavior == SplitBehavior::kIsolated) {
                put(stretch.span);
            }
        }
        return;
    }
    // A match joins its neighbour, but only the one match next to it: of a run, the others stand
    // alone. Read backwards, "next" is "previous".
    std::vector<Stretch> groups;
    const auto add = [&](const Stretch& stretch, bool joins) {
        if (joins && !groups.empty()) {
            groups.back().span = {std::min(groups.back().span.begin, stretch.span.begin),
                                  std::max(groups.back().span.end, stretch.span.end)};
        } else {
            groups.push_back(stretch);
        }
    };
    if (behavior == SplitBehavior::kContiguous) {
        for (std::size_t i = 0; i < stretches.size(); ++i) {
            add(stretches[i], i > 0 && stretches[i].isMatch == stretches[i - 1].isMatch);
        }
    } else {
        const bool isForward = behavior == SplitBehavior::kMergedWithPrevious;
        bool wasMatch = false;
        for (std::size_t n = 0; n < stretches.size(); ++n) {
            const Stretch& stretch = stretches[isForward ? n : stretches.size() - 1 - n];
            add(stretch, stretch.isMatch && !wasMatch);
            wasMatch = stretch.isMatch;
        }
        if (!isForward) {
            std::reverse(groups.begin(), groups.end());
        }
    }
    for (const Stretch& group : groups) {
        put(group.span);
    }
}

/// Cuts where matches lie. `Find(text, matches)` fills in the matches of a piece.
template <class Find>
class Split final : public PreTokenizer {
public:
    Split(Find find, SplitBehavior behavior, bool isInverted)
        : m_find(std::move(find)), m_behavior(behavior), m_isInverted(isInverted) {}

    void apply(Pieces& pieces) const override {
        std::vector<Span> out;
        out.reserve(pieces.spans().size());
        std::vector<RegexMatch> matches;
        std::vector<Stretch> stretches;
        for (const Span& piece : pieces.spans()) {
            matches.clear();
            m_find(pieces.at(piece), matches);
            stretches.clear();
            std::size_t done = piece.begin;
            const auto put = [&](std::size_t begin, std::size_t end, bool isMatch) {
                stretches.push_back({{begin, end}, isMatch != m_isInverted});
            };
            for (const RegexMatch& match : matches) {
                if (piece.begin + match.begin > done) {
                    put(done, piece.begin + match.begin, false);
                }
                put(piece.begin + match.begin, piece.begin + match.end, true);
                done = piece.begin + match.end;
            }
            if (done < piece.end) {
                put(done, piece.end, false);
            }
            join(stretches, m_behavior, out);
        }
        pieces.setSpans(std::move(out));
    }

private:
    Find m_find;
    SplitBehavior m_behavior;
    bool m_isInverted;
};

template <class Find>
PreTokenizerPtr makeSplit(Find find, SplitBehavior behavior, bool isInverted) {
    return std::make_unique<Split<Find>>(std::move(find), behavior, isInverted);
}

/// Rewrites each piece by itself: `Rewrite(piece, isFirst, out)` appends what it becomes.
template <class Rewrite>
class RewriteEach final : public PreTokenizer {
public:
    explicit RewriteEach(Rewrite rewrite) : m_rewrite(std::move(rewrite)) {}

    void apply(Pieces& pieces) const override {
        std::string text;
        text.reserve(pieces.text().size() + pieces.text().size() / 2);
        std::vector<Span> spans;
        spans.reserve(pieces.spans().size());
        for (const Span& piece : pieces.spans()) {
            const std::size_t begin = text.size();
            m_rewrite(pieces.at(piece), pieces.isFirst(piece), text);
            spans.push_back({begin, text.size()});
        }
        pieces.setText(std::move(text), std::move(spans));
    }

private:
    Rewrite m_rewrite;
};

template <class Rewrite>
PreTokenizerPtr makeRewrite(Rewrite rewrite) {
    return std::make_unique<RewriteEach<Rewrite>>(std::move(rewrite));
}

void appendMetaspace(std::string_view piece, std::string_view replacement, bool mayPrepend,
                     std::string& out) {
    if (mayPrepend && !piece.starts_with(' ') && !piece.starts_with(replacement)) {
        out.append(replacement);
    }
    for (const char c : piece) {
        if (c == ' ') {
            out.append(replacement);
        } else {
            out.push_back(c);
        }
    }
}

/// Metaspace's two steps: rewrite, then cut before every mark.
class Both final : public PreTokenizer {
public:
    Both(PreTokenizerPtr first, PreTokenizerPtr second)
        : m_first(std::move(first)), m_second(std::move(second)) {}
    void apply(Pieces& pieces) const override {
        m_first->apply(pieces);
        m_second->apply(pieces);
    }

private:
    PreTokenizerPtr m_first;
    PreTokenizerPtr m_second;
};

class FixedLength final : public PreTokenizer {
public:
    explicit FixedLength(std::size_t length) : m_length(length) {}

    void apply(Pieces& pieces) const override {
        std::vector<Span> out;
        for (const Span& piece : pieces.spans()) {
            const std::string_view text = pieces.at(piece);
            std::size_t begin = 0;
            std::size_t count = 0;
            for (std::size_t i = 0; i < text.size(); i += decodeValidUtf8(text, i).length) {
                if (count == m_length) {
                    out.push_back({piece.begin + begin, piece.begin + i});
                    begin = i;
                    count = 0;
                }
                ++count;
            }
            out.push_back({piece.begin + begin, piece.end});
        }
        pieces.setSpans(std::move(out));
    }

private:
    std::size_t m_length;
};

}  // namespace

Pieces::Pieces(std::string_view text, bool isAtStart) : m_text(text), m_isAtStart(isAtStart) {
    if (!text.empty()) {
        m_spans.push_back({0, text.size()});
    }
}

void Pieces::setText(std::string text, std::vector<Span> spans) {
    m_owned = std::move(text);
    m_text = m_owned;
    m_spans = std::move(spans);
}

PreTokenizerPtr makeRegexSplit(Regex regex, SplitBehavior behavior, bool isInverted) {
    return makeSplit(
        [regex = std::move(regex)](std::string_view text, std::vector<RegexMatch>& matches) {
            regex.findAll(text, matches);
        },
        behavior, isInverted);
}

PreTokenizerPtr makeStringSplit(std::string pattern, SplitBehavior behavior, bool isInverted) {
    return makeSplit(
        [pattern = std::move(pattern)](std::string_view text, std::vector<RegexMatch>& matches) {
            for (std::size_t at = text.find(pattern); at != std::string_view::npos;
                 at = text.find(pattern, at + pattern.size())) {
                matches.push_back({at, at + pattern.size()});
            }
        },
        behavior, isInverted);
}

PreTokenizerPtr makeCharSplit(bool (*isKind)(char32_t), SplitBehavior behavior) {
    return makeSplit(
        [isKind](std::string_view text, std::vector<RegexMatch>& matches) {
            for (std::size_t i = 0; i < text.size();) {
                const DecodedChar c = decodeValidUtf8(text, i);
                if (isKind(c.codepoint)) {
                    matches.push_back({i, i + c.length});
                }
                i += c.length;
            }
        },
        behavior, false);
}

PreTokenizerPtr makeWordSplit() {
    enum class Class { kSpace, kWord, kOther };
    const auto classOf = [](char32_t c) {
        return isWordChar(c) ? Class::kWord : isWhitespace(c) ? Class::kSpace : Class::kOther;
    };
    return makeSplit(
        [classOf](std::string_view text, std::vector<RegexMatch>& matches) {
            Class before = Class::kSpace;
            for (std::size_t i = 0; i < text.size();) {
                const DecodedChar c = decodeValidUtf8(text, i);
                const Class kind = classOf(c.codepoint);
                if (kind == before && kind != Class::kSpace) {
                    matches.back().end += c.length;
                } else if (kind != Class::kSpace) {
                    matches.push_back({i, i + c.length});
                }
                before = kind;
                i += c.length;
            }
        },
        SplitBehavior::kRemoved, true);
}

PreTokenizerPtr makeFixedLength(std::size_t length) {
    return std::make_unique<FixedLength>(length);
}

PreTokenizerPtr makePrefixSpace() {
    return makeRewrite([](std::string_view piece, bool, std::string& out) {
        if (!piece.starts_with(' ')) {
            out.push_back(' ');
        }
        out.append(piece);
    });
}

PreTokenizerPtr makeByteLevel() {
    return makeRewrite(
        [](std::string_view piece, bool, std::string& out) { appendByteLevel(out, piece); });
}

PreTokenizerPtr makeMetaspace(std::string replacement, PrependScheme scheme, bool splits) {
    auto marks =
        makeRewrite([replacement, scheme](std::string_view piece, bool isFirst, std::string& out) {
            const bool mayPrepend =
                scheme == PrependScheme::kAlways || (scheme == PrependScheme::kFirst && isFirst);
            appendMetaspace(piece, replacement, mayPrepend, out);
        });
    if (!splits) {
        return marks;
    }
    return std::make_unique<Both>(
        std::move(marks),
        makeStringSplit(std::move(replacement), SplitBehavior::kMergedWithNext, false));
}

}  // namespace quern::engine::text
