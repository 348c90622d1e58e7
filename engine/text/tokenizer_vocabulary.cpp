#include "engine/text/tokenizer_vocabulary.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>

namespace quern::engine::text {
namespace {

std::uint64_t hashOf(std::string_view text) {
    return XXH3_64bits(text.data(), text.size());
}
std::uint32_t tagOf(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

void Vocabulary::reserve(std::size_t tokens, std::size_t bytes) {
    m_entries.reserve(tokens);
    m_arena.reserve(bytes);
}

void Vocabulary::set(TokenId id, std::string_view text, TokenKind kind) {
    if (id >= size()) {
        m_entries.resize(index(id) + 1);
    }
    m_entries[index(id)] = {
        .offset = m_arena.size(), .length = static_cast<std::uint32_t>(text.size()), .kind = kind};
    m_arena.append(text);
}

void Vocabulary::buildIndex() {
    m_slots.assign(std::bit_ceil(m_entries.size() * 2 + 2), Slot{});
    const std::size_t mask = m_slots.size() - 1;
    m_longest = 0;
    for (TokenId id = 0; id < size(); ++id) {
        if (kind(id) == TokenKind::kAbsent) {
            continue;
        }
        const std::string_view spelling = text(id);
        m_longest = std::max(m_longest, spelling.size());
        const std::uint64_t hash = hashOf(spelling);
        std::size_t at = static_cast<std::size_t>(hash) & mask;
        while (m_slots[at].id >= 0 &&
               !(m_slots[at].tag == tagOf(hash) && text(m_slots[at].id) == spelling)) {
            at = (at + 1) & mask;
        }
        m_slots[at] = {.tag = tagOf(hash), .id = id};
    }
}

std::optional<TokenId> Vocabulary::find(std::string_view spelling) const {
    if (spelling.size() > m_longest || m_slots.empty()) {
        return std::nullopt;
    }
    const std::uint64_t hash = hashOf(spelling);
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t at = static_cast<std::size_t>(hash) & mask; m_slots[at].id >= 0;
         at = (at + 1) & mask) {
        if (m_slots[at].tag == tagOf(hash) && text(m_slots[at].id) == spelling) {
            return m_slots[at].id;
        }
    }
    return std::nullopt;
}

std::optional<TokenId> Vocabulary::findText(std::string_view spelling) const {
    const std::optional<TokenId> id = find(spelling);
    if (!id || isControl(*id) || kind(*id) == TokenKind::kByte || m_entries[index(*id)].isHidden) {
        return std::nullopt;
    }
    return id;
}

std::optional<TokenId> Vocabulary::findByte(unsigned char byte) const {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const std::string spelling = {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
    return find(spelling);
}

std::optional<unsigned char> parseByteToken(std::string_view text) {
    if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') {
        return std::nullopt;
    }
    unsigned value = 0;
    for (const char c : text.substr(3, 2)) {
        const bool isDigit = c >= '0' && c <= '9';
        const bool isLetter = (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
        if (!isDigit && !isLetter) {
            return std::nullopt;
        }
        value = value * 16 + static_cast<unsigned>(isDigit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return static_cast<unsigned char>(value);
}

}  // namespace quern::engine::text
