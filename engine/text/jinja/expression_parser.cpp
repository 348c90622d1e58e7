#include "engine/text/jinja/expression_parser.h"

#include <optional>

#include "engine/text/jinja/failure.h"

namespace quern::engine::jinja {
namespace {

std::optional<Operator> compareOperator(const TokenStream& tokens) {
    if (tokens.current().kind != TokenKind::kOperator) {
        return std::nullopt;
    }
    const std::string& op = tokens.current().value;
    if (op == "==") {
        return Operator::kEqual;
    }
    if (op == "!=") {
        return Operator::kNotEqual;
    }
    if (op == "<") {
        return Operator::kLess;
    }
    if (op == "<=") {
        return Operator::kLessEqual;
    }
    if (op == ">") {
        return Operator::kGreater;
    }
    if (op == ">=") {
        return Operator::kGreaterEqual;
    }
    return std::nullopt;
}

std::string_view targetName(ExprKind kind) {
    switch (kind) {
        case ExprKind::kConstant:
            return "const";
        case ExprKind::kList:
            return "list";
        case ExprKind::kDict:
            return "dict";
        default:
            return "expression";
    }
}

void checkTarget(const Expr& target) {
    if (target.kind == ExprKind::kTuple) {
        for (const ExprPtr& item : static_cast<const ItemsExpr&>(target).items) {
            checkTarget(*item);
        }
    } else if (target.kind != ExprKind::kName && target.kind != ExprKind::kNamespaceRef) {
        raiseSyntax("can't assign to '" + std::string(targetName(target.kind)) + "'", target.line);
    }
}

}  // namespace

ExpressionParser::ExpressionParser(ParseContext& context)
    : m_context(context),
      m_tokens(context.tokens),
      m_atoms(context, *this),
      m_postfix(context, *this, m_atoms) {}

ExprPtr ExpressionParser::parseExpression(bool withConditional) {
    return withConditional ? parseConditional() : parseOr();
}

bool ExpressionParser::isTupleEnd(std::string_view endName) const {
    const TokenKind kind = m_tokens.current().kind;
    return kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd ||
           m_tokens.isOperator(")") || (!endName.empty() && m_tokens.isName(endName));
}

// One item, or a tuple of those that commas part.
ExprPtr ExpressionParser::parseItems(std::string_view endName, bool mayBeEmpty,
                                     const std::function<ExprPtr()>& parseItem) {
    auto tuple = std::make_unique<ItemsExpr>(ExprKind::kTuple, m_tokens.current().line);
    bool isTuple = false;
    while (true) {
        if (!tuple->items.empty()) {
            m_tokens.expectOperator(",");
        }
        if (isTupleEnd(endName)) {
            break;
        }
        tuple->items.push_back(parseItem());
        adopt(*tuple, tuple->items.back());
        if (!m_tokens.isOperator(",")) {
            break;
        }
        isTuple = true;
    }
    if (isTuple) {
        return tuple;
    }
    if (!tuple->items.empty()) {
        return std::move(tuple->items.front());
    }
    if (!mayBeEmpty) {
        raiseSyntax("Expected an expression, got '" + describe(m_tokens.current()) + "'",
                    m_tokens.current().line);
    }
    return tuple;
}

ExprPtr ExpressionParser::parseTuple(bool withConditional, std::string_view endName,
                                     bool isParenthesized) {
    return parseItems(endName, isParenthesized, [&] { return parseExpression(withConditional); });
}

ExprPtr ExpressionParser::parseTarget(std::string_view endName, bool withNamespace) {
    return parseItems(endName, false, [&] {
        ExprPtr item = m_atoms.parse(withNamespace);
        checkTarget(*item);
        return item;
    });
}

std::pair<Symbol, std::string> ExpressionParser::parseNameTarget() {
    const int line = m_tokens.current().line;
    std::string name = m_tokens.expectAnyName();
    for (const char* constant : {"true", "false", "none", "True", "False", "None"}) {
        if (name == constant) {
            raiseSyntax("can't assign to 'name'", line);
        }
    }
    const Symbol symbol = m_context.intern(name);
    return {symbol, std::move(name)};
}

ExprPtr ExpressionParser::parseConditional() {
    const Nesting nesting(m_context, m_tokens.current().line);
    int line = m_tokens.current().line;
    const std::optional<Failure> unknownBefore = m_context.unknown;
    ExprPtr result = parseOr();
    while (m_tokens.skipName("if")) {
        m_context.unknown = unknownBefore;
        auto conditional = std::make_unique<ConditionalExpr>(line);
        const bool wasGuarded = std::exchange(m_context.isGuarded, true);
        conditional->whenTrue = std::move(result);
        conditional->test = parseOr();
        if (m_tokens.skipName("else")) {
            conditional->whenFalse = parseConditional();
        }
        m_context.isGuarded = wasGuarded;
        adopt(*conditional, conditional->whenTrue);
        adopt(*conditional, conditional->test);
        adopt(*conditional, conditional->whenFalse);
        result = std::move(conditional);
        line = m_tokens.current().line;
    }
    return result;
}

ExprPtr ExpressionParser::binary(ExprKind kind, Operator op, ExprPtr left, ExprPtr right,
                                 int line) {
    auto node = std::make_unique<BinaryExpr>(kind, op, std::move(left), std::move(right), line);
    adopt(*node, node->left);
    adopt(*node, node->right);
    return node;
}

ExprPtr ExpressionParser::parseOr() {
    const int line = m_tokens.current().line;
    ExprPtr left = parseAnd();
    while (m_tokens.skipName("or")) {
        left = binary(ExprKind::kOr, Operator::kAdd, std::move(left), parseAnd(), line);
    }
    return left;
}

ExprPtr ExpressionParser::parseAnd() {
    const int line = m_tokens.current().line;
    ExprPtr left = parseNot();
    while (m_tokens.skipName("and")) {
        left = binary(ExprKind::kAnd, Operator::kAdd, std::move(left), parseNot(), line);
    }
    return left;
}

ExprPtr ExpressionParser::parseNot() {
    if (m_tokens.isName("not")) {
        const Nesting nesting(m_context, m_tokens.current().line);
        const int line = m_tokens.next().line;
        auto node = std::make_unique<NotExpr>(parseNot(), line);
        adopt(*node, node->operand);
        return node;
    }
    return parseCompare();
}

ExprPtr ExpressionParser::parseCompare() {
    auto compare = std::make_unique<CompareExpr>(m_tokens.current().line);
    compare->first = parseSum();
    while (true) {
        if (const auto op = compareOperator(m_tokens)) {
            m_tokens.next();
            compare->rest.emplace_back(*op, parseSum());
        } else if (m_tokens.skipName("in")) {
            compare->rest.emplace_back(Operator::kIn, parseSum());
        } else if (m_tokens.isName("not") && m_tokens.look().kind == TokenKind::kName &&
                   m_tokens.look().value == "in") {
            m_tokens.next();
            m_tokens.next();
            compare->rest.emplace_back(Operator::kNotIn, parseSum());
        } else {
            break;
        }
        adopt(*compare, compare->rest.back().second);
    }
    if (compare->rest.empty()) {
        return std::move(compare->first);
    }
    adopt(*compare, compare->first);
    return compare;
}

ExprPtr ExpressionParser::parseSum() {
    const int line = m_tokens.current().line;
    ExprPtr left = parseConcat();
    while (m_tokens.isOperator("+") || m_tokens.isOperator("-")) {
        const Operator op = m_tokens.next().value == "+" ? Operator::kAdd : Operator::kSubtract;
        left = binary(ExprKind::kBinary, op, std::move(left), parseConcat(), line);
    }
    return left;
}

ExprPtr ExpressionParser::parseConcat() {
    auto concat = std::make_unique<ConcatExpr>(m_tokens.current().line);
    do {
        concat->items.push_back(parseProduct());
        adopt(*concat, concat->items.back());
    } while (m_tokens.skipOperator("~"));
    if (concat->items.size() == 1) {
        return std::move(concat->items.front());
    }
    return concat;
}

ExprPtr ExpressionParser::parseProduct() {
    const int line = m_tokens.current().line;
    ExprPtr left = parsePower();
    while (true) {
        Operator op = Operator::kMultiply;
        if (m_tokens.isOperator("/")) {
            op = Operator::kDivide;
        } else if (m_tokens.isOperator("//")) {
            op = Operator::kFloorDivide;
        } else if (m_tokens.isOperator("%")) {
            op = Operator::kModulo;
        } else if (!m_tokens.isOperator("*")) {
            return left;
        }
        m_tokens.next();
        left = binary(ExprKind::kBinary, op, std::move(left), parsePower(), line);
    }
}

ExprPtr ExpressionParser::parsePower() {
    const int line = m_tokens.current().line;
    ExprPtr left = parseUnary(true);
    while (m_tokens.skipOperator("**")) {
        left = binary(ExprKind::kBinary, Operator::kPower, std::move(left), parseUnary(true), line);
    }
    return left;
}

ExprPtr ExpressionParser::parseUnary(bool withFilters) {
    const Nesting nesting(m_context, m_tokens.current().line);
    ExprPtr node;
    if (m_tokens.isOperator("-") || m_tokens.isOperator("+")) {
        const Token& sign = m_tokens.next();
        auto unary = std::make_unique<UnaryExpr>(sign.value == "-", parseUnary(false), sign.line);
        adopt(*unary, unary->operand);
        node = std::move(unary);
    } else {
        node = m_atoms.parse(false);
    }
    node = m_postfix.parsePostfix(std::move(node));
    return withFilters ? m_postfix.parseFilters(std::move(node)) : std::move(node);
}

}  // namespace quern::engine::jinja
