#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace quern::cli {

struct TokenizeOptions {
    std::filesystem::path model;      // GGUF (vocabulary-only too), folder, or tokenizer.json
    std::optional<std::string> text;  // absent: standard input, byte for byte
    bool idsOnly = false;
    bool asJson = false;
    bool addSpecial = false;
    bool parseSpecial = false;
};

/// `quern tokenize`: ids on one line, or a line a token with its bytes, or JSON.
[[nodiscard]] int runTokenize(const TokenizeOptions& options);

}  // namespace quern::cli
