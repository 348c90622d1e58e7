#pragma once

#include <string>
#include <vector>

#include "engine/text.h"

namespace quern::test {

/// Tokens 0 … 255 are bytes, then the control tokens <s>, </s> and <|end|>, then `pieces`, which a
/// model may say but encode never gives. </s> and <|end|> end a generation.
class FakeTokenizer : public engine::Tokenizer {
public:
    static constexpr engine::TokenId kBos = 256;
    static constexpr engine::TokenId kEos = 257;
    static constexpr engine::TokenId kEndOfTurn = 258;
    static constexpr engine::TokenId kFirstPiece = 259;

    /// With `addsEos` the model ends a text with </s> of its own.
    explicit FakeTokenizer(std::vector<std::string> pieces = {}, bool addsEos = false);

    [[nodiscard]] std::int32_t vocabSize() const override;
    [[nodiscard]] Result<std::vector<engine::TokenId>> encode(
        std::string_view text, engine::EncodeOptions options) const override;
    [[nodiscard]] std::string_view tokenBytes(engine::TokenId id) const override;
    [[nodiscard]] bool isControl(engine::TokenId id) const override;
    [[nodiscard]] std::string decode(std::span<const engine::TokenId> ids,
                                     bool skipSpecial) const override;
    [[nodiscard]] std::optional<engine::TokenId> find(std::string_view piece) const override;
    [[nodiscard]] const engine::SpecialTokens& special() const override { return m_special; }
    [[nodiscard]] std::string description() const override { return "bytes"; }
    [[nodiscard]] bool addsSpacePrefix() const override { return false; }

private:
    std::vector<std::string> m_tokens;
    engine::SpecialTokens m_special;
    bool m_addsEos = false;
};

}  // namespace quern::test
