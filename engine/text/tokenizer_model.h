#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer_vocabulary.h"

namespace quern::engine::text {

/// Turns one piece of text into tokens. Immutable; any thread.
class TokenModel {
public:
    virtual ~TokenModel() = default;
    /// Appends the tokens of `piece`: valid UTF-8, with bytes escaped as in tokenizer_utf8.h.
    /// kInvalidArgument where the vocabulary has no token for a byte and no unknown token.
    [[nodiscard]] virtual Status encode(std::string_view piece,
                                        std::vector<TokenId>& out) const = 0;
};

/// Tokens for text that no token spells: of its bytes, if the vocabulary has them all, else the
/// unknown one.
class Fallback {
public:
    Fallback() = default;
    Fallback(const Vocabulary& vocabulary, bool hasByteTokens, std::optional<TokenId> unknown);

    /// The tokens of the bytes of one character; false, adding nothing, where one has none.
    [[nodiscard]] bool appendBytes(std::string_view character, std::vector<TokenId>& out) const;
    [[nodiscard]] std::optional<TokenId> unknown() const { return m_unknown; }
    /// The error for a character that nothing stands for.
    [[nodiscard]] static tl::unexpected<Error> noToken(std::string_view character);

private:
    std::vector<TokenId> m_bytes;  // [256] or empty; -1: none
    std::optional<TokenId> m_unknown;
};

/// Remembers for each token whether its own spelling encodes to just that token: then a piece so
/// spelled is done after one look-up. Filled as pieces come; any thread.
class SelfTokens {
public:
    explicit SelfTokens(std::int32_t tokens)
        : m_states(
              std::make_unique<std::atomic<std::uint8_t>[]>(static_cast<std::size_t>(tokens))) {}

    enum State : std::uint8_t { kUntried = 0, kYes = 1, kNo = 2 };
    [[nodiscard]] State state(TokenId id) const {
        return static_cast<State>(
            m_states[static_cast<std::size_t>(id)].load(std::memory_order_relaxed));
    }
    /// The tokens that the spelling of `id` turned out to be begin at `from` in `tokens`.
    void learn(TokenId id, const std::vector<TokenId>& tokens, std::size_t from) const {
        const bool isSelf = tokens.size() == from + 1 && tokens[from] == id;
        m_states[static_cast<std::size_t>(id)].store(isSelf ? kYes : kNo,
                                                     std::memory_order_relaxed);
    }

private:
    std::unique_ptr<std::atomic<std::uint8_t>[]> m_states;
};

}  // namespace quern::engine::text
