#pragma once

#include <string>

#include "engine/text/jinja/atom_parser.h"
#include "engine/text/jinja/parse_context.h"

namespace quern::engine::jinja {

class ExpressionParser;

/// Parses what follows a value and makes another one of it: attributes, subscripts, calls, filters,
/// tests.
class PostfixParser {
public:
    /// All must outlive it.
    PostfixParser(ParseContext& context, ExpressionParser& expressions, AtomParser& atoms)
        : m_context(context),
          m_tokens(context.tokens),
          m_expressions(expressions),
          m_atoms(atoms) {}

    /// Attributes, subscripts and calls.
    [[nodiscard]] ExprPtr parsePostfix(ExprPtr node);
    /// Filters and tests, and calls of what they give.
    [[nodiscard]] ExprPtr parseFilters(ExprPtr node);
    /// Filters without an input: those of filter and set blocks. Null when there is none.
    [[nodiscard]] ExprPtr parseFilterChain(bool startsInline);

private:
    ExprPtr parseSubscript(ExprPtr node);
    ExprPtr parseIndex();
    ExprPtr parseCall(ExprPtr node);
    ExprPtr parseFilter(ExprPtr input);
    ExprPtr parseTest(ExprPtr node);
    CallArguments parseArguments(Expr& owner);
    [[nodiscard]] std::string parseDottedName();

    ParseContext& m_context;
    TokenStream& m_tokens;
    ExpressionParser& m_expressions;
    AtomParser& m_atoms;
};

}  // namespace quern::engine::jinja
