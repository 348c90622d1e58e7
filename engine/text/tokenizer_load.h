#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "engine/formats/gguf_metadata.h"
#include "engine/text.h"
#include "engine/text/tokenizer_data.h"

namespace quern::engine::text {

/// The tokenizer that the metadata of a GGUF file describes. kNotFound where it has none.
[[nodiscard]] Result<std::shared_ptr<const Tokenizer>> readGgufTokenizer(
    const GgufMetadata& metadata);

/// The tokenizer of a tokenizer.json; `folder` may hold tokenizer_config.json,
/// special_tokens_map.json, generation_config.json and config.json, which name special tokens.
[[nodiscard]] Result<std::shared_ptr<const Tokenizer>> readJsonTokenizer(
    const std::filesystem::path& file, const std::filesystem::path& folder);

/// The tokenizer of a tokenizer.json's text; `roles` names the tokens with a role.
[[nodiscard]] Result<std::shared_ptr<const Tokenizer>> readJsonTokenizerText(
    std::string_view document, const TokenizerData& roles);

}  // namespace quern::engine::text
