#include "engine/text/jinja/parse_context.h"

#include <algorithm>

namespace quern::engine::jinja {
namespace {

// The reference, whose compiler is Python's, gives up at about 200 nested brackets.
constexpr int kMostExpressionNesting = 150;
constexpr int kMaxHeight = 300;

[[noreturn]] void failTooDeep(int most, int line) {
    raiseSyntax("an expression is nested more than " + std::to_string(most) + " levels deep", line);
}

}  // namespace

Symbol ParseContext::intern(std::string_view name) {
    const auto found = m_symbols.find(name);
    if (found != m_symbols.end()) {
        return found->second;
    }
    const auto symbol = static_cast<Symbol>(m_names.size());
    m_names.emplace_back(name);
    m_symbols.emplace(std::string(name), symbol);
    return symbol;
}

void ParseContext::noteUnknown(std::string message, int line) {
    if (!isGuarded && !unknown) {
        unknown.emplace("TemplateAssertionError", std::move(message), line);
    }
}

Nesting::Nesting(ParseContext& context, int line) : m_context(context) {
    if (++m_context.nesting > kMostExpressionNesting) {
        --m_context.nesting;
        failTooDeep(kMostExpressionNesting, line);
    }
}

void adopt(Expr& parent, const ExprPtr& child) {
    if (child != nullptr) {
        parent.height = std::max(parent.height, child->height + 1);
        if (parent.height > kMaxHeight) {
            failTooDeep(kMaxHeight, parent.line);
        }
    }
}

}  // namespace quern::engine::jinja
