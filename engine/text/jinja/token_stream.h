#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/jinja/lexer.h"

namespace quern::engine::jinja {

/// The tokens of a template, with a place in them.
class TokenStream {
public:
    explicit TokenStream(std::vector<Token> tokens) : m_tokens(std::move(tokens)) {}

    [[nodiscard]] const Token& current() const { return m_tokens[m_at]; }
    [[nodiscard]] const Token& look() const {
        return m_tokens[std::min(m_at + 1, m_tokens.size() - 1)];
    }
    /// Returns the current token and moves on; stays on the last.
    const Token& next();
    [[nodiscard]] bool isName(std::string_view name) const;
    [[nodiscard]] bool isOperator(std::string_view op) const;
    bool skipName(std::string_view name);
    bool skipOperator(std::string_view op);
    void expectOperator(std::string_view op);
    void expectName(std::string_view name);
    [[nodiscard]] std::string expectAnyName();
    void expect(TokenKind kind);

private:
    [[noreturn]] void failExpected(std::string_view what) const;

    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
};

}  // namespace quern::engine::jinja
