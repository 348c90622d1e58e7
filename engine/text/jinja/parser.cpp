#include "engine/text/jinja/parser.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "engine/text/jinja/expression_parser.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/lexer.h"

namespace quern::engine::jinja {
namespace {

constexpr int kMostStatementNesting = 100;

class Parser {
public:
    explicit Parser(std::string_view source) : m_context(tokenize(source)) {}

    Template run() {
        Template result;
        result.loop = m_context.intern("loop");
        result.caller = m_context.intern("caller");
        result.varargs = m_context.intern("varargs");
        result.kwargs = m_context.intern("kwargs");
        result.body = parseBody({});
        if (m_context.unknown) {
            throw Failure(*m_context.unknown);
        }
        result.names = m_context.takeNames();
        return result;
    }

private:
    using Ends = std::initializer_list<std::string_view>;

    /// Statements up to a tag that is one of `ends`, which becomes the current token. Without
    /// `ends`, up to the end of the template.
    Body parseBody(Ends ends) {
        Body body;
        while (m_tokens.current().kind != TokenKind::kEnd) {
            const Token& token = m_tokens.current();
            if (token.kind == TokenKind::kData) {
                body.push_back(std::make_unique<DataNode>(token.value, token.line));
                m_tokens.next();
            } else if (token.kind == TokenKind::kVariableBegin) {
                auto output = std::make_unique<OutputNode>(m_tokens.next().line);
                output->items.push_back(m_expr.parseTuple());
                m_tokens.expect(TokenKind::kVariableEnd);
                body.push_back(std::move(output));
            } else {
                m_tokens.expect(TokenKind::kBlockBegin);
                if (std::any_of(ends.begin(), ends.end(),
                                [this](std::string_view end) { return m_tokens.isName(end); })) {
                    return body;
                }
                if (auto node = parseStatement()) {
                    body.push_back(std::move(node));
                }
                m_tokens.expect(TokenKind::kBlockEnd);
            }
        }
        if (ends.size() != 0) {
            raiseSyntax("Unexpected end of template. Jinja was looking for the following tags: '" +
                            std::string(*std::prev(ends.end())) + "'.",
                        m_tokens.current().line);
        }
        return body;
    }

    /// The body behind a tag: skips the tag's end, then as parseBody.
    Body parseStatements(Ends ends) {
        m_tokens.skipOperator(":");
        m_tokens.expect(TokenKind::kBlockEnd);
        return parseBody(ends);
    }

    Body parseStatementsTo(std::string_view end) {
        Body body = parseStatements({end});
        m_tokens.next();
        return body;
    }

    std::unique_ptr<Node> parseStatement() {
        const Token& token = m_tokens.current();
        if (token.kind != TokenKind::kName) {
            raiseSyntax("tag name expected", token.line);
        }
        if (++m_nesting > kMostStatementNesting) {
            raiseSyntax("statements are nested more than " + std::to_string(kMostStatementNesting) +
                            " levels deep",
                        token.line);
        }
        auto node = parseTag(token.value, token.line);
        --m_nesting;
        return node;
    }

    std::unique_ptr<Node> parseTag(const std::string& name, int line) {
        if (name == "if") {
            return parseIf(line);
        }
        if (name == "for") {
            return parseFor(line);
        }
        if (name == "set") {
            return parseSet(line);
        }
        if (name == "macro") {
            return parseMacro(line);
        }
        if (name == "call") {
            return parseCallBlock(line);
        }
        if (name == "filter") {
            return parseFilterBlock(line);
        }
        if (name == "with") {
            return parseWith(line);
        }
        if (name == "print") {
            return parsePrint(line);
        }
        if (name == "generation") {
            return parseGeneration(line);
        }
        if (name == "block") {
            return parseBlock(line);
        }
        if (name == "autoescape") {
            return parseAutoescape(line);
        }
        if (name == "break" || name == "continue") {
            return parseJump(name, line);
        }
        constexpr std::array<std::string_view, 4> kNeedLoader = {"include", "import", "from",
                                                                 "extends"};
        if (std::find(kNeedLoader.begin(), kNeedLoader.end(), name) != kNeedLoader.end()) {
            raiseSyntax("'" + name + "' is not supported: a chat template is one file", line);
        }
        raiseSyntax("Encountered unknown tag '" + name + "'.", line);
    }

    std::unique_ptr<Node> parseIf(int line) {
        auto node = std::make_unique<IfNode>(line);
        const bool wasGuarded = std::exchange(m_context.isGuarded, true);
        m_tokens.next();
        while (true) {
            ExprPtr test = m_expr.parseTuple(false);
            Body body = parseStatements({"elif", "else", "endif"});
            node->branches.emplace_back(std::move(test), std::move(body));
            const std::string& tag = m_tokens.next().value;
            if (tag == "elif") {
                continue;
            }
            if (tag == "else") {
                node->otherwise = parseStatementsTo("endif");
            }
            break;
        }
        m_context.isGuarded = wasGuarded;
        return node;
    }

    std::unique_ptr<Node> parseFor(int line) {
        auto node = std::make_unique<ForNode>(line);
        const bool wasGuarded = std::exchange(m_context.isGuarded, false);
        m_tokens.next();
        node->target = m_expr.parseTarget("in", false);
        m_tokens.expectName("in");
        node->iterable = m_expr.parseTuple(false, "recursive");
        if (m_tokens.skipName("if")) {
            node->filter = m_expr.parseExpression();
        }
        node->isRecursive = m_tokens.skipName("recursive");
        const bool wasCaptured = std::exchange(m_isCaptured, false);
        ++m_loops;
        node->body = parseStatements({"endfor", "else"});
        --m_loops;
        node->isCaptured = m_isCaptured || node->isRecursive;
        if (m_tokens.next().value == "else") {
            node->otherwise = parseStatementsTo("endfor");
        }
        m_isCaptured = m_isCaptured || wasCaptured || node->isRecursive;
        m_context.isGuarded = wasGuarded;
        return node;
    }

    std::unique_ptr<Node> parseSet(int line) {
        m_tokens.next();
        ExprPtr target = m_expr.parseTarget({}, true);
        if (m_tokens.skipOperator("=")) {
            auto node = std::make_unique<SetNode>(line);
            node->target = std::move(target);
            node->value = m_expr.parseTuple();
            return node;
        }
        auto node = std::make_unique<SetBlockNode>(line);
        node->target = std::move(target);
        node->filter = m_expr.postfix().parseFilterChain(false);
        node->body = parseStatementsTo("endset");
        return node;
    }

    std::unique_ptr<Node> parseWith(int line) {
        auto node = std::make_unique<WithNode>(line);
        m_tokens.next();
        while (m_tokens.current().kind != TokenKind::kBlockEnd) {
            if (!node->assignments.empty()) {
                m_tokens.expectOperator(",");
            }
            ExprPtr target = m_expr.parseTarget({}, false);
            m_tokens.expectOperator("=");
            ExprPtr value = m_expr.parseExpression();
            node->assignments.emplace_back(std::move(target), std::move(value));
        }
        node->body = parseStatementsTo("endwith");
        return node;
    }

    void parseSignature(MacroNode& macro) {
        m_tokens.expectOperator("(");
        while (!m_tokens.isOperator(")")) {
            if (!macro.parameters.empty()) {
                m_tokens.expectOperator(",");
            }
            const int line = m_tokens.current().line;
            macro.parameters.push_back(m_expr.parseNameTarget());
            const auto& added = macro.parameters.back();
            for (std::size_t i = 0; i + 1 < macro.parameters.size(); ++i) {
                if (macro.parameters[i].first == added.first) {
                    raiseSyntax("duplicate argument '" + added.second + "'", line);
                }
            }
            if (m_tokens.skipOperator("=")) {
                macro.defaults.push_back(m_expr.parseExpression());
            } else if (!macro.defaults.empty()) {
                raiseSyntax("non-default argument follows default argument", line);
            }
        }
        m_tokens.expectOperator(")");
    }

    void parseMacroBody(MacroNode& macro, std::string_view end) {
        const bool wasGuarded = std::exchange(m_context.isGuarded, false);
        const SpecialNames outer = std::exchange(m_context.seen, {});
        const int loops = std::exchange(m_loops, 0);
        macro.body = parseStatementsTo(end);
        const auto isParameter = [&macro](std::string_view name) {
            return std::any_of(macro.parameters.begin(), macro.parameters.end(),
                               [name](const auto& p) { return p.second == name; });
        };
        macro.usesCaller = m_context.seen.caller && !isParameter("caller");
        macro.usesVarargs = m_context.seen.varargs && !isParameter("varargs");
        macro.usesKwargs = m_context.seen.kwargs && !isParameter("kwargs");
        m_loops = loops;
        m_context.seen.caller = m_context.seen.caller || outer.caller;
        m_context.seen.varargs = m_context.seen.varargs || outer.varargs;
        m_context.seen.kwargs = m_context.seen.kwargs || outer.kwargs;
        m_context.isGuarded = wasGuarded;
        m_isCaptured = true;
    }

    std::unique_ptr<Node> parseMacro(int line) {
        auto node = std::make_unique<MacroNode>(line);
        m_tokens.next();
        std::tie(node->symbol, node->name) = m_expr.parseNameTarget();
        parseSignature(*node);
        parseMacroBody(*node, "endmacro");
        return node;
    }

    std::unique_ptr<Node> parseCallBlock(int line) {
        auto node = std::make_unique<CallBlockNode>(line);
        node->caller = std::make_unique<MacroNode>(line);
        m_tokens.next();
        if (m_tokens.isOperator("(")) {
            parseSignature(*node->caller);
        }
        node->call = m_expr.parseExpression();
        if (node->call->kind != ExprKind::kCall) {
            raiseSyntax("expected call", line);
        }
        parseMacroBody(*node->caller, "endcall");
        return node;
    }

    std::unique_ptr<Node> parseFilterBlock(int line) {
        auto node = std::make_unique<FilterBlockNode>(line);
        m_tokens.next();
        node->filter = m_expr.postfix().parseFilterChain(true);
        node->body = parseStatementsTo("endfilter");
        return node;
    }

    std::unique_ptr<Node> parsePrint(int line) {
        auto node = std::make_unique<OutputNode>(line);
        m_tokens.next();
        while (m_tokens.current().kind != TokenKind::kBlockEnd) {
            if (!node->items.empty()) {
                m_tokens.expectOperator(",");
            }
            node->items.push_back(m_expr.parseExpression());
        }
        return node;
    }

    /// What transformers adds to mark the assistant's words: it only renders its body.
    std::unique_ptr<Node> parseGeneration(int line) {
        auto node = std::make_unique<ScopeNode>(line);
        m_tokens.next();
        node->body = parseStatementsTo("endgeneration");
        return node;
    }

    std::unique_ptr<Node> parseBlock(int line) {
        auto node = std::make_unique<ScopeNode>(line);
        m_tokens.next();
        const std::string name = m_tokens.expectAnyName();
        if (!m_blocks.insert(name).second) {
            throw Failure("TemplateAssertionError", "block '" + name + "' defined twice", line);
        }
        node->startsAtRoot = !m_tokens.skipName("scoped");
        m_tokens.skipName("required");
        const int loops = std::exchange(m_loops, 0);
        node->body = parseStatementsTo("endblock");
        m_loops = loops;
        m_tokens.skipName(name);
        return node;
    }

    std::unique_ptr<Node> parseAutoescape(int line) {
        auto node = std::make_unique<ScopeNode>(line);
        m_tokens.next();
        if (!m_tokens.skipName("false") && !m_tokens.skipName("False")) {
            raiseSyntax("'autoescape' is not supported: a chat template is no HTML", line);
        }
        node->body = parseStatementsTo("endautoescape");
        return node;
    }

    std::unique_ptr<Node> parseJump(const std::string& name, int line) {
        const NodeKind kind = name == "break" ? NodeKind::kBreak : NodeKind::kContinue;
        if (m_loops == 0) {
            raiseSyntax("'" + name + "' outside loop", line);
        }
        m_tokens.next();
        return std::make_unique<JumpNode>(kind, line);
    }

    ParseContext m_context;
    TokenStream& m_tokens = m_context.tokens;
    ExpressionParser m_expr{m_context};
    int m_nesting = 0;
    std::set<std::string> m_blocks;  // names that are taken
    int m_loops = 0;                 // around the current statement, inside the same macro
    bool m_isCaptured = false;       // the body being parsed holds a macro or a caller
};

}  // namespace

Template parseTemplate(std::string_view source) {
    return Parser(source).run();
}

}  // namespace quern::engine::jinja
