#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text.h"

namespace quern::engine::text {

/// What a token is. The numbers are those of GGUF's `tokenizer.ggml.token_type`.
enum class TokenKind : std::uint8_t {
    kAbsent = 0,  // a hole between ids
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6,  // "<0x0A>"
};

/// The tokens' spellings, and ids by spelling. Filled once, then read by any thread.
class Vocabulary {
public:
    void reserve(std::size_t tokens, std::size_t bytes);
    /// Sets or replaces a token. Ids may come in any order; the caller bounds them.
    void set(TokenId id, std::string_view text, TokenKind kind);
    void setKind(TokenId id, TokenKind kind) { m_entries[index(id)].kind = kind; }
    /// Ordinary text never becomes this token: it is only cut out of the text as an added one.
    void hideFromText(TokenId id) { m_entries[index(id)].isHidden = true; }
    /// Makes `find` work. Of tokens with one spelling the last is found.
    void buildIndex();

    [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(m_entries.size()); }
    [[nodiscard]] bool contains(TokenId id) const {
        return id >= 0 && id < size() && kind(id) != TokenKind::kAbsent;
    }
    [[nodiscard]] std::string_view text(TokenId id) const {
        const Entry& entry = m_entries[index(id)];
        return std::string_view(m_arena).substr(entry.offset, entry.length);
    }
    [[nodiscard]] TokenKind kind(TokenId id) const { return m_entries[index(id)].kind; }
    /// Control and unknown tokens are never made by text, only named.
    [[nodiscard]] bool isControl(TokenId id) const {
        return kind(id) == TokenKind::kControl || kind(id) == TokenKind::kUnknown;
    }

    [[nodiscard]] std::optional<TokenId> find(std::string_view text) const;
    /// The token that ordinary text of this spelling may become.
    [[nodiscard]] std::optional<TokenId> findText(std::string_view text) const;
    /// The token "<0xNN>" of a byte.
    [[nodiscard]] std::optional<TokenId> findByte(unsigned char byte) const;

private:
    struct Entry {
        std::size_t offset = 0;
        std::uint32_t length = 0;
        TokenKind kind = TokenKind::kAbsent;
        bool isHidden = false;
    };
    struct Slot {
        std::uint32_t tag = 0;
        TokenId id = -1;
    };
    static std::size_t index(TokenId id) { return static_cast<std::size_t>(id); }

    std::string m_arena;
    std::vector<Entry> m_entries;
    std::vector<Slot> m_slots;  // open addressing, a power of two of them
    std::size_t m_longest = 0;
};

/// The byte that a token spelled "<0x0A>" stands for.
[[nodiscard]] std::optional<unsigned char> parseByteToken(std::string_view text);

}  // namespace quern::engine::text
