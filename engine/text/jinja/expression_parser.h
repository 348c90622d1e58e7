#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/text/jinja/atom_parser.h"
#include "engine/text/jinja/parse_context.h"
#include "engine/text/jinja/postfix_parser.h"

namespace quern::engine::jinja {

/// Parses expressions, by recursive descent in the order of Jinja's precedences.
class ExpressionParser {
public:
    /// `context` must outlive it.
    explicit ExpressionParser(ParseContext& context);
    ExpressionParser(const ExpressionParser&) = delete;
    ExpressionParser& operator=(const ExpressionParser&) = delete;

    [[nodiscard]] ExprPtr parseExpression(bool withConditional = true);
    /// One expression, or a tuple where commas follow. `endName` is a name that ends it.
    [[nodiscard]] ExprPtr parseTuple(bool withConditional = true, std::string_view endName = {},
                                     bool isParenthesized = false);
    /// Names, tuples of names and, for `set`, attributes of namespaces.
    [[nodiscard]] ExprPtr parseTarget(std::string_view endName, bool withNamespace);
    [[nodiscard]] std::pair<Symbol, std::string> parseNameTarget();
    [[nodiscard]] PostfixParser& postfix() { return m_postfix; }

private:
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
    ExprPtr binary(ExprKind kind, Operator op, ExprPtr left, ExprPtr right, int line);
    ExprPtr parseItems(std::string_view endName, bool mayBeEmpty,
                       const std::function<ExprPtr()>& parseItem);
    [[nodiscard]] bool isTupleEnd(std::string_view endName) const;

    ParseContext& m_context;
    TokenStream& m_tokens;
    AtomParser m_atoms;
    PostfixParser m_postfix;
};

}  // namespace quern::engine::jinja
