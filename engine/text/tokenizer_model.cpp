#include "engine/text/tokenizer_model.h"

#include <cstdio>
#include <string>

#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {

Fallback::Fallback(const Vocabulary& vocabulary, bool hasByteTokens, std::optional<TokenId> unknown)
    : m_unknown(unknown) {
    if (!hasByteTokens) {
        return;
    }
    m_bytes.resize(256, -1);
    for (std::size_t byte = 0; byte < 256; ++byte) {
        m_bytes[byte] = vocabulary.findByte(static_cast<unsigned char>(byte)).value_or(-1);
    }
}

bool Fallback::appendBytes(std::string_view character, std::vector<TokenId>& out) const {
    if (m_bytes.empty()) {
        return false;
    }
    const std::size_t before = out.size();
    std::string bytes;
    appendUnescaped(bytes, character);
    for (const char byte : bytes) {
        const TokenId id = m_bytes[static_cast<unsigned char>(byte)];
        if (id < 0) {
            out.resize(before);
            return false;
        }
        out.push_back(id);
    }
    return true;
}

tl::unexpected<Error> Fallback::noToken(std::string_view character) {
    char name[16] = {};
    std::snprintf(name, sizeof(name), "U+%04X",
                  static_cast<unsigned>(decodeValidUtf8(character, 0).codepoint));
    return fail(ErrorCode::kInvalidArgument, "the vocabulary has no token for the character " +
                                                 std::string(name) + " and no unknown token");
}

}  // namespace quern::engine::text
