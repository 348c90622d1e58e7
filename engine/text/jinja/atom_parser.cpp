#include "engine/text/jinja/atom_parser.h"

#include "engine/text/jinja/expression_parser.h"
#include "engine/text/jinja/number_text.h"

namespace quern::engine::jinja {

ExprPtr AtomParser::parse(bool withNamespace) {
    const Token& token = m_tokens.current();
    const int line = token.line;
    switch (token.kind) {
        case TokenKind::kName:
            return parseNameOrConstant(withNamespace);
        case TokenKind::kText: {
            std::string text;
            while (m_tokens.current().kind == TokenKind::kText) {
                text += m_tokens.next().value;
            }
            return std::make_unique<ConstantExpr>(constantText(std::move(text)), line);
        }
        case TokenKind::kInteger:
        case TokenKind::kFloat:
            return parseNumber();
        default:
            break;
    }
    if (m_tokens.skipOperator("(")) {
        const Nesting nesting(m_context, line);
        ExprPtr node = m_expressions.parseTuple(true, {}, true);
        m_tokens.expectOperator(")");
        return node;
    }
    if (m_tokens.isOperator("[")) {
        return parseList();
    }
    if (m_tokens.isOperator("{")) {
        return parseDict();
    }
    raiseSyntax("unexpected '" + describe(token) + "'", line);
}

ExprPtr AtomParser::parseNameOrConstant(bool withNamespace) {
    const Token& token = m_tokens.next();
    const int line = token.line;
    const std::string& name = token.value;
    if (name == "true" || name == "True") {
        return std::make_unique<ConstantExpr>(Value(true), line);
    }
    if (name == "false" || name == "False") {
        return std::make_unique<ConstantExpr>(Value(false), line);
    }
    if (name == "none" || name == "None") {
        return std::make_unique<ConstantExpr>(Value(), line);
    }
    const Symbol symbol = m_context.intern(name);
    if (withNamespace && m_tokens.skipOperator(".")) {
        return std::make_unique<NamespaceRefExpr>(symbol, m_tokens.expectAnyName(), line);
    }
    m_context.seen.caller = m_context.seen.caller || name == "caller";
    m_context.seen.varargs = m_context.seen.varargs || name == "varargs";
    m_context.seen.kwargs = m_context.seen.kwargs || name == "kwargs";
    return std::make_unique<NameExpr>(symbol, line);
}

ExprPtr AtomParser::parseNumber() {
    const Token& token = m_tokens.next();
    try {
        if (token.kind == TokenKind::kFloat) {
            return std::make_unique<ConstantExpr>(Value(parseFloat(token.value).value_or(0.0)),
                                                  token.line);
        }
        return std::make_unique<ConstantExpr>(Value(parseInteger(token.value, 0).value_or(0)),
                                              token.line);
    } catch (const Failure& failure) {
        raiseSyntax(failure.message, token.line);
    }
}

ExprPtr AtomParser::parseList() {
    const int line = m_tokens.next().line;
    const Nesting nesting(m_context, line);
    auto list = std::make_unique<ItemsExpr>(ExprKind::kList, line);
    while (!m_tokens.isOperator("]")) {
        if (!list->items.empty()) {
            m_tokens.expectOperator(",");
            if (m_tokens.isOperator("]")) {
                break;
            }
        }
        list->items.push_back(m_expressions.parseExpression());
        adopt(*list, list->items.back());
    }
    m_tokens.expectOperator("]");
    return list;
}

ExprPtr AtomParser::parseDict() {
    const int line = m_tokens.next().line;
    const Nesting nesting(m_context, line);
    auto dict = std::make_unique<DictExpr>(line);
    while (!m_tokens.isOperator("}")) {
        if (!dict->pairs.empty()) {
            m_tokens.expectOperator(",");
            if (m_tokens.isOperator("}")) {
                break;
            }
        }
        ExprPtr key = m_expressions.parseExpression();
        m_tokens.expectOperator(":");
        ExprPtr value = m_expressions.parseExpression();
        adopt(*dict, key);
        adopt(*dict, value);
        dict->pairs.emplace_back(std::move(key), std::move(value));
    }
    m_tokens.expectOperator("}");
    return dict;
}

}  // namespace quern::engine::jinja
