#include "engine/text/jinja/postfix_parser.h"

#include "engine/text/jinja/expression_parser.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/tests.h"

namespace quern::engine::jinja {

ExprPtr PostfixParser::parsePostfix(ExprPtr node) {
    while (true) {
        if (m_tokens.isOperator(".") || m_tokens.isOperator("[")) {
            node = parseSubscript(std::move(node));
        } else if (m_tokens.isOperator("(")) {
            node = parseCall(std::move(node));
        } else {
            return node;
        }
    }
}

ExprPtr PostfixParser::parseFilters(ExprPtr node) {
    while (true) {
        if (m_tokens.skipOperator("|")) {
            node = parseFilter(std::move(node));
        } else if (m_tokens.isName("is")) {
            node = parseTest(std::move(node));
        } else if (m_tokens.isOperator("(")) {
            node = parseCall(std::move(node));
        } else {
            return node;
        }
    }
}

ExprPtr PostfixParser::parseFilterChain(bool startsInline) {
    ExprPtr node;
    if (startsInline) {
        node = parseFilter(nullptr);
    }
    while (m_tokens.skipOperator("|")) {
        node = parseFilter(std::move(node));
    }
    return node;
}

ExprPtr PostfixParser::parseSubscript(ExprPtr node) {
    const Token& token = m_tokens.next();
    const int line = token.line;
    if (token.value == ".") {
        const Token& attribute = m_tokens.next();
        if (attribute.kind == TokenKind::kName) {
            auto expr = std::make_unique<AttributeExpr>(std::move(node), attribute.value, line);
            adopt(*expr, expr->object);
            return expr;
        }
        if (attribute.kind != TokenKind::kInteger) {
            raiseSyntax("expected name or number", attribute.line);
        }
        const Value index(parseInteger(attribute.value, 10).value_or(0));
        auto expr = std::make_unique<SubscriptExpr>(
            std::move(node), std::make_unique<ConstantExpr>(index, line), line);
        adopt(*expr, expr->object);
        return expr;
    }
    const Nesting nesting(m_context, line);
    auto tuple = std::make_unique<ItemsExpr>(ExprKind::kTuple, line);
    while (!m_tokens.isOperator("]")) {
        if (!tuple->items.empty()) {
            m_tokens.expectOperator(",");
        }
        tuple->items.push_back(parseIndex());
        adopt(*tuple, tuple->items.back());
    }
    m_tokens.expectOperator("]");
    ExprPtr index;
    if (tuple->items.size() == 1) {
        index = std::move(tuple->items.front());
    } else {
        index = std::move(tuple);
    }
    auto expr = std::make_unique<SubscriptExpr>(std::move(node), std::move(index), line);
    adopt(*expr, expr->object);
    adopt(*expr, expr->index);
    return expr;
}

ExprPtr PostfixParser::parseIndex() {
    const int line = m_tokens.current().line;
    auto slice = std::make_unique<SliceExpr>(line);
    if (!m_tokens.isOperator(":")) {
        ExprPtr node = m_expressions.parseExpression();
        if (!m_tokens.isOperator(":")) {
            return node;
        }
        slice->start = std::move(node);
    }
    m_tokens.expectOperator(":");
    const auto isOpen = [this] {
        return !m_tokens.isOperator("]") && !m_tokens.isOperator(",") && !m_tokens.isOperator(":");
    };
    if (isOpen()) {
        slice->stop = m_expressions.parseExpression();
    }
    if (m_tokens.skipOperator(":") && isOpen()) {
        slice->step = m_expressions.parseExpression();
    }
    adopt(*slice, slice->start);
    adopt(*slice, slice->stop);
    adopt(*slice, slice->step);
    return slice;
}

ExprPtr PostfixParser::parseCall(ExprPtr node) {
    auto call = std::make_unique<CallExpr>(m_tokens.current().line);
    call->callee = std::move(node);
    adopt(*call, call->callee);
    call->arguments = parseArguments(*call);
    return call;
}

CallArguments PostfixParser::parseArguments(Expr& owner) {
    const int line = m_tokens.current().line;
    const Nesting nesting(m_context, line);
    m_tokens.expectOperator("(");
    CallArguments out;
    const auto ensure = [line](bool holds) {
        if (!holds) {
            raiseSyntax("invalid syntax for function call expression", line);
        }
    };
    bool isFirst = true;
    while (!m_tokens.isOperator(")")) {
        if (!isFirst) {
            m_tokens.expectOperator(",");
            if (m_tokens.isOperator(")")) {
                break;
            }
        }
        isFirst = false;
        if (m_tokens.skipOperator("*")) {
            ensure(out.positionalRest == nullptr && out.namedRest == nullptr);
            out.positionalRest = m_expressions.parseExpression();
            adopt(owner, out.positionalRest);
        } else if (m_tokens.skipOperator("**")) {
            ensure(out.namedRest == nullptr);
            out.namedRest = m_expressions.parseExpression();
            adopt(owner, out.namedRest);
        } else if (m_tokens.current().kind == TokenKind::kName &&
                   m_tokens.look().kind == TokenKind::kOperator && m_tokens.look().value == "=") {
            ensure(out.namedRest == nullptr);
            std::string name = m_tokens.next().value;
            m_tokens.next();
            for (const auto& given : out.named) {
                if (given.first == name) {
                    raiseSyntax("keyword argument repeated: " + name, line);
                }
            }
            out.named.emplace_back(std::move(name), m_expressions.parseExpression());
            adopt(owner, out.named.back().second);
        } else {
            ensure(out.positionalRest == nullptr && out.namedRest == nullptr && out.named.empty());
            out.positional.push_back(m_expressions.parseExpression());
            adopt(owner, out.positional.back());
        }
    }
    m_tokens.expectOperator(")");
    return out;
}

std::string PostfixParser::parseDottedName() {
    std::string name = m_tokens.expectAnyName();
    while (m_tokens.skipOperator(".")) {
        name += "." + m_tokens.expectAnyName();
    }
    return name;
}

ExprPtr PostfixParser::parseFilter(ExprPtr input) {
    auto filter = std::make_unique<FilterExpr>(m_tokens.current().line);
    filter->input = std::move(input);
    adopt(*filter, filter->input);
    filter->name = parseDottedName();
    filter->filter = findFilter(filter->name);
    if (filter->filter == nullptr) {
        m_context.noteUnknown("No filter named '" + filter->name + "'.", filter->line);
    }
    if (m_tokens.isOperator("(")) {
        filter->arguments = parseArguments(*filter);
    }
    return filter;
}

ExprPtr PostfixParser::parseTest(ExprPtr node) {
    const int line = m_tokens.next().line;
    const bool isNegated = m_tokens.skipName("not");
    auto test = std::make_unique<TestExpr>(line);
    test->input = std::move(node);
    adopt(*test, test->input);
    test->name = parseDottedName();
    test->test = findTest(test->name);
    if (test->test == nullptr) {
        m_context.noteUnknown("No test named '" + test->name + "'.", line);
    }
    const Token& token = m_tokens.current();
    const bool startsOperand =
        token.kind == TokenKind::kText || token.kind == TokenKind::kInteger ||
        token.kind == TokenKind::kFloat || m_tokens.isOperator("[") || m_tokens.isOperator("{") ||
        (token.kind == TokenKind::kName && token.value != "else" && token.value != "or" &&
         token.value != "and");
    if (m_tokens.isOperator("(")) {
        test->arguments = parseArguments(*test);
    } else if (startsOperand) {
        if (m_tokens.isName("is")) {
            raiseSyntax("You cannot chain multiple tests with is", token.line);
        }
        const Nesting nesting(m_context, line);
        test->arguments.positional.push_back(parsePostfix(m_atoms.parse(false)));
        adopt(*test, test->arguments.positional.back());
    }
    if (!isNegated) {
        return test;
    }
    auto negation = std::make_unique<NotExpr>(std::move(test), line);
    adopt(*negation, negation->operand);
    return negation;
}

}  // namespace quern::engine::jinja
