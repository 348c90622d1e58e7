#include <algorithm>
#include <utility>

#include "engine/text.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Moves the complete characters from the front of `pending` to the result; bytes that can no more
/// become a character are replaced.
std::string takeComplete(std::string& pending) {
    std::string out;
    const std::size_t end = text::incompleteTail(pending);
    const std::string_view ready = std::string_view(pending).substr(0, end);
    for (std::size_t i = 0; i < ready.size();) {
        const text::DecodedChar c = text::decodeUtf8(ready, i);
        if (c.length == 0) {
            out += kReplacement;
            ++i;
        } else {
            out += ready.substr(i, c.length);
            i += c.length;
        }
    }
    pending.erase(0, end);
    return out;
}

}  // namespace

struct Detokenizer::State {
    const Tokenizer* tokenizer = nullptr;
    bool skipsSpecial = false;
    std::vector<TokenId> shown;
    bool isAtStart = true;
    std::string pending;

    [[nodiscard]] bool skips(TokenId id) const {
        return skipsSpecial && tokenizer->isControl(id) && std::ranges::count(shown, id) == 0;
    }

    /// The text of the token that may be the first of all.
    std::string textOf(TokenId id) {
        const std::string_view middle = tokenizer->tokenBytes(id);
        if (!isAtStart) {
            return std::string(middle);
        }
        std::string first = tokenizer->leadingBytes(id);
        isAtStart = first.empty() && middle.empty();
        return first;
    }
};

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool skipSpecial, TextStart start,
                         std::vector<TokenId> shown)
    : m_state(std::make_unique<State>()) {
    m_state->tokenizer = &tokenizer;
    m_state->skipsSpecial = skipSpecial;
    m_state->shown = std::move(shown);
    m_state->isAtStart = start == TextStart::kBeginning;
}
Detokenizer::~Detokenizer() = default;
Detokenizer::Detokenizer(Detokenizer&&) noexcept = default;
Detokenizer& Detokenizer::operator=(Detokenizer&&) noexcept = default;

std::string Detokenizer::push(TokenId id) {
    if (m_state->skips(id)) {
        return {};
    }
    m_state->pending += m_state->textOf(id);
    return takeComplete(m_state->pending);
}

std::string Detokenizer::takeUnfinished() {
    return std::exchange(m_state->pending, {});
}

}  // namespace quern::engine
