#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/failure.h"
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

/// Names that the language gives a meaning inside macros, as far as they were read.
struct SpecialNames {
    bool caller = false;
    bool varargs = false;
    bool kwargs = false;
};

/// Parses expressions, by recursive descent in the order of Jinja's precedences.
class ExpressionParser {
public:
    explicit ExpressionParser(TokenStream& tokens);

    [[nodiscard]] ExprPtr parseExpression(bool withConditional = true);
    /// One expression, or a tuple where commas follow. `endName` is a name that ends it.
    [[nodiscard]] ExprPtr parseTuple(bool withConditional = true, std::string_view endName = {},
                                     bool isParenthesized = false);
    /// Names, tuples of names and, for `set`, attributes of namespaces.
    [[nodiscard]] ExprPtr parseTarget(std::string_view endName, bool withNamespace);
    [[nodiscard]] std::pair<Symbol, std::string> parseNameTarget();
    /// Filters without an input: those of filter and set blocks. Null when there is none.
    [[nodiscard]] ExprPtr parseFilterChain(bool startsInline);

    Symbol intern(std::string_view name);
    [[nodiscard]] std::vector<std::string> takeNames() { return std::move(m_names); }

    SpecialNames seen;
    /// Inside an `if`, an unknown filter or test is an error only when it is reached.
    bool isGuarded = false;
    /// The first unknown filter or test outside of any `if`: an error of the whole template.
    std::optional<Failure> unknown;

private:
    class Nesting;

    ExprPtr parseConditional();
    ExprPtr parseOr();
    ExprPtr parseAnd();
    ExprPtr parseNot();
    ExprPtr parseCompare();
    ExprPtr parseSum();
    ExprPtr parseConcat();
    ExprPtr parseProduct();
    ExprPtr parsePower();
    ExprPtr parseUnary(bool withFilters);
    ExprPtr parsePrimary(bool withNamespace);
    ExprPtr parseNameOrConstant(bool withNamespace);
    ExprPtr parseNumber();
    ExprPtr parseList();
    ExprPtr parseDict();
    ExprPtr parsePostfix(ExprPtr node);
    ExprPtr parseFilters(ExprPtr node);
    ExprPtr parseSubscript(ExprPtr node);
    ExprPtr parseIndex();
    ExprPtr parseCall(ExprPtr node);
    ExprPtr parseFilter(ExprPtr input);
    ExprPtr parseTest(ExprPtr node);
    ExprPtr binary(ExprKind kind, Operator op, ExprPtr left, ExprPtr right, int line);
    CallArguments parseArguments(Expr& owner);
    [[nodiscard]] std::string parseDottedName();
    [[nodiscard]] bool isTupleEnd(std::string_view endName) const;
    void checkTarget(const Expr& target) const;

    TokenStream& m_tokens;
    std::vector<std::string> m_names;
    std::map<std::string, Symbol, std::less<>> m_symbols;
    int m_nesting = 0;
};

}  // namespace quern::engine::jinja
