#pragma once

#include "engine/text/jinja/parse_context.h"

namespace quern::engine::jinja {

class ExpressionParser;

/// Parses what expressions are made of: names, constants, lists, dicts, and what stands in
/// parentheses.
class AtomParser {
public:
    /// `expressions` parses what stands inside; both must outlive it.
    AtomParser(ParseContext& context, ExpressionParser& expressions)
        : m_context(context), m_tokens(context.tokens), m_expressions(expressions) {}

    /// `withNamespace`: a name with an attribute is a place in a namespace, to be set.
    [[nodiscard]] ExprPtr parse(bool withNamespace);

private:
    ExprPtr parseNameOrConstant(bool withNamespace);
    ExprPtr parseNumber();
    ExprPtr parseList();
    ExprPtr parseDict();

    ParseContext& m_context;
    TokenStream& m_tokens;
    ExpressionParser& m_expressions;
};

}  // namespace quern::engine::jinja
