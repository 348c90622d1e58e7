#include "tests/support/fake_tokenizer.h"

#include <algorithm>

namespace quern::test {

using engine::TokenId;

FakeTokenizer::FakeTokenizer(std::vector<std::string> pieces, bool addsEos) : m_addsEos(addsEos) {
    for (int byte = 0; byte < 256; ++byte) {
        m_tokens.emplace_back(1, static_cast<char>(byte));
    }
    m_tokens.insert(m_tokens.end(), {"<s>", "</s>", "<|end|>"});
    m_tokens.insert(m_tokens.end(), pieces.begin(), pieces.end());
    m_special.bos = kBos;
    m_special.eos = kEos;
    m_special.endOfGeneration = {kEos, kEndOfTurn};
}

std::int32_t FakeTokenizer::vocabSize() const {
    return static_cast<std::int32_t>(m_tokens.size());
}

Result<std::vector<TokenId>> FakeTokenizer::encode(std::string_view text,
                                                   engine::EncodeOptions options) const {
    std::vector<TokenId> ids;
    if (options.addSpecial && !(options.parseSpecial && text.starts_with("<s>"))) {
        ids.push_back(kBos);
    }
    while (!text.empty()) {
        TokenId token = static_cast<unsigned char>(text.front());
        for (TokenId control = kBos; options.parseSpecial && control <= kEndOfTurn; ++control) {
            if (text.starts_with(tokenBytes(control))) {
                token = control;
            }
        }
        ids.push_back(token);
        text.remove_prefix(tokenBytes(token).size());
    }
    if (options.addSpecial && options.addEnd && m_addsEos) {
        ids.push_back(kEos);
    }
    return ids;
}

std::string_view FakeTokenizer::tokenBytes(TokenId id) const {
    return id >= 0 && id < vocabSize() ? std::string_view(m_tokens[static_cast<std::size_t>(id)])
                                       : std::string_view();
}

bool FakeTokenizer::isControl(TokenId id) const {
    return id >= kBos && id <= kEndOfTurn;
}

std::string FakeTokenizer::decode(std::span<const TokenId> ids, bool skipSpecial) const {
    std::string text;
    for (const TokenId id : ids) {
        if (!skipSpecial || !isControl(id)) {
            text += tokenBytes(id);
        }
    }
    return text;
}

std::optional<TokenId> FakeTokenizer::find(std::string_view piece) const {
    const auto found = std::ranges::find(m_tokens, piece);
    if (found == m_tokens.end()) {
        return std::nullopt;
    }
    return static_cast<TokenId>(found - m_tokens.begin());
}

}  // namespace quern::test
