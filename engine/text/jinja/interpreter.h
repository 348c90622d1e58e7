#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

struct Loop;

/// What one rendering may use. Steps are statements, expressions, and items or 64 bytes of text
/// handled by filters.
struct Limits {
    std::uint64_t steps = 20'000'000;
    std::size_t outputBytes = std::size_t{32} << 20U;
    std::size_t memoryBytes = std::size_t{256} << 20U;
    int depth = 3000;  // of nested evaluations: about 2 MiB of stack
};

/// Names of one scope. Few, so a scan finds them.
struct Scope {
    explicit Scope(Scope* outer) : parent(outer) {}
    [[nodiscard]] const Value* find(Symbol symbol) const;
    void set(Symbol symbol, Value value);

    Scope* parent;
    std::vector<std::pair<Symbol, Value>> names;
};

/// Renders one template once. Everything throws Failure. Belongs to one thread.
class Interpreter {
public:
    /// `code` must outlive it. `now` is what strftime_now shows, as seconds since 1970 in UTC; the
    /// clock's local time when absent.
    Interpreter(const Template& code, const Limits& limits, std::optional<std::int64_t> now);

    [[nodiscard]] Heap& heap() { return m_heap; }
    [[nodiscard]] std::optional<std::int64_t> now() const { return m_now; }

    /// Gives the template a variable; a later one of the same name replaces it.
    void define(std::string_view name, Value value);
    [[nodiscard]] std::string render();

    // For filters, tests, methods and functions.

    [[nodiscard]] Value text(std::string bytes, bool isMarkup = false);
    /// Counts work. Throws beyond the limit.
    void step(std::uint64_t count = 1);
    void stepBytes(std::size_t bytes) { step(bytes / 64 + 1); }
    /// Throws when a text that is being put together is longer than any output may be.
    void checkSize(std::size_t bytes) const;
    /// `object.name` and `object[key]` as the language resolves them: missing ones are undefined.
    [[nodiscard]] Value attribute(const Value& object, std::string_view name);
    [[nodiscard]] Value item(const Value& object, const Value& key);
    /// As `attribute`, without falling back to a dict's keys.
    [[nodiscard]] Value attributeOnly(const Value& object, std::string_view name);
    [[nodiscard]] Value call(const Value& callee, const Arguments& arguments);
    [[nodiscard]] Value applyFilter(std::string_view name, const Value& input,
                                    const Arguments& arguments);
    [[nodiscard]] bool applyTest(std::string_view name, const Value& input,
                                 const Arguments& arguments);
    /// All items of an iterable, each counted as a step.
    [[nodiscard]] std::vector<Value> itemsOf(const Value& value);

private:
    enum class Flow : std::uint8_t { kNormal, kBreak, kContinue };
    class Capture;
    /// Counts nested evaluation, so that deep templates end in an error and not in the stack's end.
    class Nesting {
    public:
        explicit Nesting(Interpreter& interpreter);
        ~Nesting() { --m_interpreter.m_depth; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        Interpreter& m_interpreter;
    };

    Flow run(const Body& body, Scope& scope);
    Flow run(const Node& node, Scope& scope);
    /// What a body writes.
    Value capture(const Body& body, Scope& scope);
    Flow runIf(const IfNode& node, Scope& scope);
    void runFor(const ForNode& node, const Value& iterable, Scope& scope, std::int64_t depth);
    void runSetBlock(const SetBlockNode& node, Scope& scope);
    void runWith(const WithNode& node, Scope& scope);
    void runCallBlock(const CallBlockNode& node, Scope& scope);
    void assign(const Expr& target, const Value& value, Scope& scope);
    void assignItems(const ItemsExpr& target, const Value& value, Scope& scope);
    void write(std::string_view text);
    Scope& newScope(Scope* parent);

    Value evaluate(const Expr& expr, Scope& scope);
    Value evaluateCompare(const CompareExpr& expr, Scope& scope);
    Value evaluateConditional(const ConditionalExpr& expr, Scope& scope);
    Value evaluateConcat(const ConcatExpr& expr, Scope& scope);
    Value evaluateItems(const ItemsExpr& expr, Scope& scope);
    Value evaluateDict(const DictExpr& expr, Scope& scope);
    Value evaluateSubscript(const SubscriptExpr& expr, Scope& scope);
    Value evaluateFilter(const FilterExpr& expr, const Value* blockText, Scope& scope);
    Value evaluateTest(const TestExpr& expr, Scope& scope);
    Value lookUp(Symbol symbol, const Scope& scope);
    Arguments evaluateArguments(const CallArguments& arguments, Scope& scope);
    Value callMacro(const Macro& macro, const Arguments& arguments);
    void bindParameters(const MacroNode& node, const Arguments& arguments, Scope& scope);
    Value callLoop(Loop& loop, const Arguments& arguments);
    std::optional<Value> ownAttribute(const Value& object, std::string_view name);

    const Template& m_code;
    const Limits m_limits;
    const std::optional<std::int64_t> m_now;
    std::uint64_t m_steps = 0;
    int m_depth = 0;
    Heap m_heap;
    std::vector<std::unique_ptr<Scope>> m_scopes;
    Scope m_globals;  // the language's functions
    Scope m_context;  // what the caller defined
    Scope m_root;     // what the template sets
    std::string* m_out = nullptr;
};

}  // namespace quern::engine::jinja
