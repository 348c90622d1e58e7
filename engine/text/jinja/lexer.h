#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern::engine::jinja {

enum class TokenKind : std::uint8_t {
    kData,
    kVariableBegin,
    kVariableEnd,
    kBlockBegin,
    kBlockEnd,
    kName,
    kText,
    kInteger,
    kFloat,
    kOperator,
    kEnd,
};

struct Token {
    TokenKind kind = TokenKind::kEnd;
    int line = 1;
    /// Data, name or operator as written; texts with their escapes replaced; numbers without
    /// underscores.
    std::string value;
};

/// Splits a template into tokens, white space control done: trim_blocks and lstrip_blocks are on,
/// one newline at the end of the source is dropped, line ends become "\n". The last token is kEnd.
/// Throws Failure (TemplateSyntaxError). `source` is valid UTF-8.
[[nodiscard]] std::vector<Token> tokenize(std::string_view source);

/// How a token is named in syntax errors.
[[nodiscard]] std::string describe(const Token& token);

}  // namespace quern::engine::jinja
