#include "engine/text/jinja/token_stream.h"

#include <algorithm>

#include "engine/text/jinja/failure.h"

namespace quern::engine::jinja {

const Token& TokenStream::next() {
    const Token& token = m_tokens[m_at];
    m_at = std::min(m_at + 1, m_tokens.size() - 1);
    return token;
}

bool TokenStream::isName(std::string_view name) const {
    return current().kind == TokenKind::kName && current().value == name;
}

bool TokenStream::isOperator(std::string_view op) const {
    return current().kind == TokenKind::kOperator && current().value == op;
}

bool TokenStream::skipName(std::string_view name) {
    const bool matches = isName(name);
    if (matches) {
        next();
    }
    return matches;
}

bool TokenStream::skipOperator(std::string_view op) {
    const bool matches = isOperator(op);
    if (matches) {
        next();
    }
    return matches;
}

void TokenStream::expectOperator(std::string_view op) {
    if (!skipOperator(op)) {
        failExpected(op);
    }
}

void TokenStream::expectName(std::string_view name) {
    if (!skipName(name)) {
        failExpected(name);
    }
}

std::string TokenStream::expectAnyName() {
    if (current().kind != TokenKind::kName) {
        failExpected("name");
    }
    return next().value;
}

void TokenStream::expect(TokenKind kind) {
    if (current().kind != kind) {
        failExpected(describe(Token{.kind = kind, .line = 0, .value = {}}));
    }
    next();
}

void TokenStream::failExpected(std::string_view what) const {
    if (current().kind == TokenKind::kEnd) {
        raiseSyntax("unexpected end of template, expected '" + std::string(what) + "'.",
                    current().line);
    }
    raiseSyntax("expected token '" + std::string(what) + "', got '" + describe(current()) + "'",
                current().line);
}

}  // namespace quern::engine::jinja
