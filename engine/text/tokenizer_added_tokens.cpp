#include "engine/text/tokenizer_added_tokens.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "engine/text/tokenizer_unicode.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

bool endsInWord(std::string_view text) {
    return !text.empty() && isWordChar(decodeValidUtf8(text, lastCharStart(text)).codepoint);
}

bool beginsWithWord(std::string_view text) {
    return !text.empty() && isWordChar(decodeValidUtf8(text, 0).codepoint);
}

std::size_t spaceAtEnd(std::string_view text) {
    std::size_t end = text.size();
    while (end > 0) {
        const std::size_t start = lastCharStart(text.substr(0, end));
        if (!isWhitespace(decodeValidUtf8(text, start).codepoint)) {
            break;
        }
        end = start;
    }
    return text.size() - end;
}

std::size_t spaceAtStart(std::string_view text) {
    std::size_t position = 0;
    while (position < text.size()) {
        const DecodedChar c = decodeValidUtf8(text, position);
        if (!isWhitespace(c.codepoint)) {
            break;
        }
        position += c.length;
    }
    return position;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : m_tokens(std::move(tokens)) {
    std::vector<std::pair<std::string_view, std::int32_t>> entries;
    std::unordered_set<std::string_view> seen;
    // Backwards: of two tokens with one spelling the later one holds.
    for (std::size_t i = m_tokens.size(); i-- > 0;) {
        if (seen.insert(m_tokens[i].content).second) {
            entries.emplace_back(m_tokens[i].content, static_cast<std::int32_t>(i));
        }
    }
    m_trie.build(std::move(entries));
}

std::int32_t AddedTokenMatcher::longestAt(std::string_view text, std::size_t position,
                                          bool parseSpecial) const {
    std::int32_t longest = -1;
    ByteTrie::Node node = m_trie.first(static_cast<unsigned char>(text[position]));
    while (node != ByteTrie::kNone) {
        const std::int32_t value = m_trie.value(node);
        if (value >= 0 && (parseSpecial || !m_tokens[static_cast<std::size_t>(value)].isSpecial)) {
            longest = value;
        }
        if (++position == text.size()) {
            break;
        }
        node = m_trie.child(node, static_cast<unsigned char>(text[position]));
    }
    return longest;
}

std::vector<TextSegment> AddedTokenMatcher::split(std::string_view text, bool parseSpecial) const {
    std::vector<TextSegment> segments;
    std::size_t done = 0;  // everything before is in segments
    for (std::size_t i = 0; i < text.size() && !m_trie.isEmpty();) {
        const std::int32_t found =
            m_trie.first(static_cast<unsigned char>(text[i])) == ByteTrie::kNone
                ? -1
                : longestAt(text, i, parseSpecial);
        if (found < 0) {
            ++i;
            continue;
        }
        const AddedToken& token = m_tokens[static_cast<std::size_t>(found)];
        std::size_t start = i;
        std::size_t stop = i + token.content.size();
        i = stop;
        if (token.isSingleWord &&
            (endsInWord(text.substr(0, start)) || beginsWithWord(text.substr(stop)))) {
            continue;
        }
        if (token.stripsLeft) {
            start = std::max(start, done);
            start -= spaceAtEnd(text.substr(done, start - done));
        }
        if (token.stripsRight) {
            // A token that begins in the space taken here is found all the same.
            stop += spaceAtStart(text.substr(stop));
        }
        if (start >= stop) {
            continue;  // all of it was taken by the token before
        }
        if (start > done) {
            segments.push_back({.id = -1, .text = text.substr(done, start - done)});
        }
        segments.push_back({.id = token.id, .text = text.substr(start, stop - start)});
        done = stop;
    }
    if (done < text.size()) {
        segments.push_back({.id = -1, .text = text.substr(done)});
    }
    return segments;
}

}  // namespace quern::engine::text
