#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/token_stream.h"

namespace quern::engine::jinja {

/// Names that the language gives a meaning inside macros, as far as they were read.
struct SpecialNames {
    bool caller = false;
    bool varargs = false;
    bool kwargs = false;
};

/// What the parsers of one template share: its tokens, its names, and where they are.
class ParseContext {
public:
    explicit ParseContext(std::vector<Token> templateTokens) : tokens(std::move(templateTokens)) {}

    Symbol intern(std::string_view name);
    [[nodiscard]] std::vector<std::string> takeNames() { return std::move(m_names); }
    /// A filter or a test that there is not: see `unknown`.
    void noteUnknown(std::string message, int line);

    TokenStream tokens;
    SpecialNames seen;
    /// Inside an `if`, an unknown filter or test is an error only when it is reached.
    bool isGuarded = false;
    /// The first unknown filter or test outside of any `if`: an error of the whole template.
    std::optional<Failure> unknown;
    int nesting = 0;  // of expressions; see Nesting

private:
    std::vector<std::string> m_names;
    std::map<std::string, Symbol, std::less<>> m_symbols;
};

/// Counts the recursion of the parsers themselves.
class Nesting {
public:
    Nesting(ParseContext& context, int line);
    ~Nesting() { --m_context.nesting; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

private:
    ParseContext& m_context;
};

/// Notes that `child` hangs below `parent`.
void adopt(Expr& parent, const ExprPtr& child);

}  // namespace quern::engine::jinja
