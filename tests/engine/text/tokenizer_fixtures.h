#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/text.h"
#include "engine/text/tokenizer_data.h"

namespace quern::test {

using TokenizerPtr = std::shared_ptr<const engine::Tokenizer>;

/// The golden vocabulary NAME, or null (the test is then skipped or failed).
[[nodiscard]] TokenizerPtr goldenVocabulary(const std::string& name);

/// A byte-level vocabulary: 256 byte tokens, a few merges, then the tokens added here.
struct SmallVocabulary {
    SmallVocabulary();
    engine::TokenId add(const std::string& spelling, engine::text::TokenKind kind);
    [[nodiscard]] TokenizerPtr make() const;

    std::vector<std::string> spellings;
    std::vector<engine::text::TokenKind> kinds;
    engine::text::TokenizerData data;  // tokens, kinds and merges are filled in by make()
};

/// The ids of a text, or a failure of the test.
[[nodiscard]] std::vector<engine::TokenId> encode(const engine::Tokenizer& tokenizer,
                                                  std::string_view text,
                                                  engine::EncodeOptions options = {});

}  // namespace quern::test

/// Sets `variable` to the golden vocabulary, or skips the test (fails under CI=true).
#define QUERN_VOCABULARY_OR_SKIP(variable, name)                                  \
    const auto variable = quern::test::goldenVocabulary(name);                    \
    if (!variable) {                                                              \
        if (quern::test::isContinuousIntegration()) {                             \
            FAIL() << "golden vocabulary '" << (name) << "' is missing under CI"; \
        }                                                                         \
        GTEST_SKIP() << "no golden vocabulary '" << (name) << "'";                \
    }                                                                             \
    static_assert(true)
