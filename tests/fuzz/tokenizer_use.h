#pragma once

#include <cstdlib>
#include <string_view>

#include "engine/text.h"

namespace quern::test {

/// Encodes and decodes a few texts: what a tokenizer gives must be ids of its vocabulary, and so
/// are its tokens with a role.
inline void useTokenizer(const engine::Tokenizer& tokenizer) {
    const auto check = [&](engine::TokenId id) {
        if (id < 0 || id >= tokenizer.vocabSize()) {
            std::abort();
        }
    };
    for (const std::string_view text :
         {"", " ", "Hello, wörld 123\n\n", "\xFF\xE6\xAD", "<s>x</s>"}) {
        const auto ids = tokenizer.encode(text, {.addSpecial = true, .parseSpecial = true});
        if (!ids) {
            continue;
        }
        for (const engine::TokenId id : *ids) {
            check(id);
        }
        (void)tokenizer.decode(*ids, false);
        (void)tokenizer.encodePair(text, "b");
    }
    const engine::SpecialTokens& special = tokenizer.special();
    for (const auto& role : {special.bos, special.eos, special.unknown, special.separator,
                             special.padding, special.classify, special.mask, special.fimPrefix,
                             special.fimSuffix, special.fimMiddle}) {
        check(role.value_or(0));
    }
    for (const engine::TokenId id : special.endOfGeneration) {
        check(id);
    }
}

}  // namespace quern::test
