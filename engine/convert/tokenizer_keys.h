#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/convert/gguf_header.h"

namespace quern::engine::convert {

/// Adds a folder's tokenizer and chat templates as GGUF's keys. Those must give the ids of
/// tokenizer.json on texts of many kinds; where the format cannot say it, the whole tokenizer.json
/// goes in besides, under the key that the format has for it. `rows` of the embedding table.
/// Returns sentences for people about what is there. Errors are those of reading the tokenizer.
[[nodiscard]] Result<std::vector<std::string>> addTokenizerKeys(const std::filesystem::path& folder,
                                                                std::int64_t rows, GgufKeys& keys);

}  // namespace quern::engine::convert
