#include "engine/text/jinja/expression_parser.h"

#include <algorithm>
#include <optional>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/tests.h"

namespace quern::engine::jinja {
namespace {

// The reference, whose compiler is Python's, gives up at about 200 nested brackets.
constexpr int kMaxNesting = 150;
constexpr int kMaxHeight = 300;

/// Notes that `child` hangs below `parent`.
void adopt(Expr& parent, const ExprPtr& child) {
    if (child != nullptr) {
        parent.height = std::max(parent.height, child->height + 1);
        if (parent.height > kMaxHeight) {
            raiseSyntax(
                "an expression is nested more than " + std::to_string(kMaxHeight) + " levels deep",
                parent.line);
        }
    }
}

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

}  // namespace

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

/// Counts the recursion of the parser itself.
class ExpressionParser::Nesting {
public:
    Nesting(int& depth, int line) : m_depth(depth) {
        if (++m_depth > kMaxNesting) {
            --m_depth;
            raiseSyntax(
                "an expression is nested more than " + std::to_string(kMaxNesting) + " levels deep",
                line);
        }
    }
    ~Nesting() { --m_depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

private:
    int& m_depth;
};

ExpressionParser::ExpressionParser(TokenStream& tokens) : m_tokens(tokens) {}

Symbol ExpressionParser::intern(std::string_view name) {
    const auto found = m_symbols.find(name);
    if (found != m_symbols.end()) {
        return found->second;
    }
    const auto symbol = static_cast<Symbol>(m_names.size());
    m_names.emplace_back(name);
    m_symbols.emplace(std::string(name), symbol);
    return symbol;
}

ExprPtr ExpressionParser::parseExpression(bool withConditional) {
    return withConditional ? parseConditional() : parseOr();
}

bool ExpressionParser::isTupleEnd(std::string_view endName) const {
    const TokenKind kind = m_tokens.current().kind;
    return kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd ||
           m_tokens.isOperator(")") || (!endName.empty() && m_tokens.isName(endName));
}

ExprPtr ExpressionParser::parseTuple(bool withConditional, std::string_view endName,
                                     bool isParenthesized) {
    const int line = m_tokens.current().line;
    auto tuple = std::make_unique<ItemsExpr>(ExprKind::kTuple, line);
    bool isTuple = false;
    while (true) {
        if (!tuple->items.empty()) {
            m_tokens.expectOperator(",");
        }
        if (isTupleEnd(endName)) {
            break;
        }
        ExprPtr item = parseExpression(withConditional);
        adopt(*tuple, item);
        tuple->items.push_back(std::move(item));
        if (!m_tokens.isOperator(",")) {
            break;
        }
        isTuple = true;
    }
    if (!isTuple) {
        if (!tuple->items.empty()) {
            return std::move(tuple->items.front());
        }
        if (!isParenthesized) {
            raiseSyntax("Expected an expression, got '" + describe(m_tokens.current()) + "'",
                        m_tokens.current().line);
        }
    }
    return tuple;
}

ExprPtr ExpressionParser::parseTarget(std::string_view endName, bool withNamespace) {
    const int line = m_tokens.current().line;
    auto tuple = std::make_unique<ItemsExpr>(ExprKind::kTuple, line);
    bool isTuple = false;
    while (true) {
        if (!tuple->items.empty()) {
            m_tokens.expectOperator(",");
        }
        if (isTupleEnd(endName)) {
            break;
        }
        ExprPtr item = parsePrimary(withNamespace);
        checkTarget(*item);
        adopt(*tuple, item);
        tuple->items.push_back(std::move(item));
        if (!m_tokens.isOperator(",")) {
            break;
        }
        isTuple = true;
    }
    if (!isTuple && !tuple->items.empty()) {
        return std::move(tuple->items.front());
    }
    if (!isTuple) {
        raiseSyntax("Expected an expression, got '" + describe(m_tokens.current()) + "'",
                    m_tokens.current().line);
    }
    return tuple;
}

void ExpressionParser::checkTarget(const Expr& target) const {
    if (target.kind == ExprKind::kTuple) {
        for (const ExprPtr& item : static_cast<const ItemsExpr&>(target).items) {
            checkTarget(*item);
        }
    } else if (target.kind != ExprKind::kName && target.kind != ExprKind::kNamespaceRef) {
        raiseSyntax("can't assign to '" + std::string(targetName(target.kind)) + "'", target.line);
    }
}

std::pair<Symbol, std::string> ExpressionParser::parseNameTarget() {
    const int line = m_tokens.current().line;
    std::string name = m_tokens.expectAnyName();
    for (const char* constant : {"true", "false", "none", "True", "False", "None"}) {
        if (name == constant) {
            raiseSyntax("can't assign to 'name'", line);
        }
    }
    const Symbol symbol = intern(name);
    return {symbol, std::move(name)};
}

ExprPtr ExpressionParser::parseConditional() {
    const Nesting nesting(m_nesting, m_tokens.current().line);
    int line = m_tokens.current().line;
    const std::optional<Failure> unknownBefore = unknown;
    ExprPtr result = parseOr();
    while (m_tokens.skipName("if")) {
        unknown = unknownBefore;
        auto conditional = std::make_unique<ConditionalExpr>(line);
        const bool wasGuarded = std::exchange(isGuarded, true);
        conditional->whenTrue = std::move(result);
        conditional->test = parseOr();
        if (m_tokens.skipName("else")) {
            conditional->whenFalse = parseConditional();
        }
        isGuarded = wasGuarded;
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
        const Nesting nesting(m_nesting, m_tokens.current().line);
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
    const Nesting nesting(m_nesting, m_tokens.current().line);
    ExprPtr node;
    if (m_tokens.isOperator("-") || m_tokens.isOperator("+")) {
        const Token& sign = m_tokens.next();
        auto unary = std::make_unique<UnaryExpr>(sign.value == "-", parseUnary(false), sign.line);
        adopt(*unary, unary->operand);
        node = std::move(unary);
    } else {
        node = parsePrimary(false);
    }
    node = parsePostfix(std::move(node));
    return withFilters ? parseFilters(std::move(node)) : std::move(node);
}

ExprPtr ExpressionParser::parsePrimary(bool withNamespace) {
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
        const Nesting nesting(m_nesting, line);
        ExprPtr node = parseTuple(true, {}, true);
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

ExprPtr ExpressionParser::parseNameOrConstant(bool withNamespace) {
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
    const Symbol symbol = intern(name);
    if (withNamespace && m_tokens.skipOperator(".")) {
        return std::make_unique<NamespaceRefExpr>(symbol, m_tokens.expectAnyName(), line);
    }
    seen.caller = seen.caller || name == "caller";
    seen.varargs = seen.varargs || name == "varargs";
    seen.kwargs = seen.kwargs || name == "kwargs";
    return std::make_unique<NameExpr>(symbol, line);
}

ExprPtr ExpressionParser::parseNumber() {
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

ExprPtr ExpressionParser::parseList() {
    const int line = m_tokens.next().line;
    const Nesting nesting(m_nesting, line);
    auto list = std::make_unique<ItemsExpr>(ExprKind::kList, line);
    while (!m_tokens.isOperator("]")) {
        if (!list->items.empty()) {
            m_tokens.expectOperator(",");
            if (m_tokens.isOperator("]")) {
                break;
            }
        }
        list->items.push_back(parseExpression());
        adopt(*list, list->items.back());
    }
    m_tokens.expectOperator("]");
    return list;
}

ExprPtr ExpressionParser::parseDict() {
    const int line = m_tokens.next().line;
    const Nesting nesting(m_nesting, line);
    auto dict = std::make_unique<DictExpr>(line);
    while (!m_tokens.isOperator("}")) {
        if (!dict->pairs.empty()) {
            m_tokens.expectOperator(",");
            if (m_tokens.isOperator("}")) {
                break;
            }
        }
        ExprPtr key = parseExpression();
        m_tokens.expectOperator(":");
        ExprPtr value = parseExpression();
        adopt(*dict, key);
        adopt(*dict, value);
        dict->pairs.emplace_back(std::move(key), std::move(value));
    }
    m_tokens.expectOperator("}");
    return dict;
}

ExprPtr ExpressionParser::parsePostfix(ExprPtr node) {
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

ExprPtr ExpressionParser::parseFilters(ExprPtr node) {
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

ExprPtr ExpressionParser::parseFilterChain(bool startsInline) {
    ExprPtr node;
    if (startsInline) {
        node = parseFilter(nullptr);
    }
    while (m_tokens.skipOperator("|")) {
        node = parseFilter(std::move(node));
    }
    return node;
}

ExprPtr ExpressionParser::parseSubscript(ExprPtr node) {
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
    const Nesting nesting(m_nesting, line);
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

ExprPtr ExpressionParser::parseIndex() {
    const int line = m_tokens.current().line;
    auto slice = std::make_unique<SliceExpr>(line);
    if (!m_tokens.isOperator(":")) {
        ExprPtr node = parseExpression();
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
        slice->stop = parseExpression();
    }
    if (m_tokens.skipOperator(":") && isOpen()) {
        slice->step = parseExpression();
    }
    adopt(*slice, slice->start);
    adopt(*slice, slice->stop);
    adopt(*slice, slice->step);
    return slice;
}

ExprPtr ExpressionParser::parseCall(ExprPtr node) {
    auto call = std::make_unique<CallExpr>(m_tokens.current().line);
    call->callee = std::move(node);
    adopt(*call, call->callee);
    call->arguments = parseArguments(*call);
    return call;
}

CallArguments ExpressionParser::parseArguments(Expr& owner) {
    const int line = m_tokens.current().line;
    const Nesting nesting(m_nesting, line);
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
            out.positionalRest = parseExpression();
            adopt(owner, out.positionalRest);
        } else if (m_tokens.skipOperator("**")) {
            ensure(out.namedRest == nullptr);
            out.namedRest = parseExpression();
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
            out.named.emplace_back(std::move(name), parseExpression());
            adopt(owner, out.named.back().second);
        } else {
            ensure(out.positionalRest == nullptr && out.namedRest == nullptr && out.named.empty());
            out.positional.push_back(parseExpression());
            adopt(owner, out.positional.back());
        }
    }
    m_tokens.expectOperator(")");
    return out;
}

std::string ExpressionParser::parseDottedName() {
    std::string name = m_tokens.expectAnyName();
    while (m_tokens.skipOperator(".")) {
        name += "." + m_tokens.expectAnyName();
    }
    return name;
}

ExprPtr ExpressionParser::parseFilter(ExprPtr input) {
    auto filter = std::make_unique<FilterExpr>(m_tokens.current().line);
    filter->input = std::move(input);
    adopt(*filter, filter->input);
    filter->name = parseDottedName();
    filter->filter = findFilter(filter->name);
    if (filter->filter == nullptr && !isGuarded && !unknown) {
        unknown.emplace("TemplateAssertionError", "No filter named '" + filter->name + "'.",
                        filter->line);
    }
    if (m_tokens.isOperator("(")) {
        filter->arguments = parseArguments(*filter);
    }
    return filter;
}

ExprPtr ExpressionParser::parseTest(ExprPtr node) {
    const int line = m_tokens.next().line;
    const bool isNegated = m_tokens.skipName("not");
    auto test = std::make_unique<TestExpr>(line);
    test->input = std::move(node);
    adopt(*test, test->input);
    test->name = parseDottedName();
    test->test = findTest(test->name);
    if (test->test == nullptr && !isGuarded && !unknown) {
        unknown.emplace("TemplateAssertionError", "No test named '" + test->name + "'.", line);
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
        const Nesting nesting(m_nesting, line);
        test->arguments.positional.push_back(parsePostfix(parsePrimary(false)));
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
