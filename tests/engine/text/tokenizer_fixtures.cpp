#include "tests/engine/text/tokenizer_fixtures.h"

#include "engine/text/pretokenizer.h"
#include "tests/support/golden.h"

namespace quern::test {

using namespace engine;

TokenizerPtr goldenVocabulary(const std::string& name) {
    const auto folder = goldenOrCopied("tokenizers-gguf");
    if (!folder) {
        return nullptr;
    }
    auto tokenizer = loadTokenizer(*folder / (name + ".gguf"));
    return tokenizer ? *tokenizer : nullptr;
}

SmallVocabulary::SmallVocabulary() {
    data.model = "gpt2";
    data.pre = "gpt-2";
    for (int byte = 0; byte < 256; ++byte) {
        add(std::string(text::byteLevelChar(static_cast<unsigned char>(byte))),
            text::TokenKind::kNormal);
    }
    for (const char* spelling : {"he", "ll", "hell", "hello"}) {
        add(spelling, text::TokenKind::kNormal);
    }
}

TokenId SmallVocabulary::add(const std::string& spelling, text::TokenKind kind) {
    spellings.push_back(spelling);
    kinds.push_back(kind);
    return static_cast<TokenId>(spellings.size() - 1);
}

TokenizerPtr SmallVocabulary::make() const {
    text::TokenizerData whole = data;
    whole.tokens.assign(spellings.begin(), spellings.end());
    whole.kinds = kinds;
    whole.merges = {"h e", "l l", "he ll", "hell o"};
    auto tokenizer = text::makeGgufTokenizer(whole);
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    return tokenizer ? *tokenizer : nullptr;
}

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text,
                            EncodeOptions options) {
    const auto ids = tokenizer.encode(text, options);
    EXPECT_TRUE(ids) << ids.error().message;
    return ids ? *ids : std::vector<TokenId>{};
}

}  // namespace quern::test
