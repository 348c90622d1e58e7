#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/text/tokenizer_model.h"

namespace quern::engine::text {

/// Always the longest token that the bytes begin with, whatever the words: RWKV's World
/// vocabularies. Bytes that begin no token are the unknown one each; without one they are left out.
[[nodiscard]] std::unique_ptr<TokenModel> makeLongestMatch(const Vocabulary& vocabulary,
                                                           std::optional<TokenId> unknown);

/// The bytes of a token as such vocabularies spell it in GGUF: \n, \t, \r, \xNN, and a backslash
/// before what stands for itself.
[[nodiscard]] std::string unescapeWorldToken(std::string_view spelling);

}  // namespace quern::engine::text
