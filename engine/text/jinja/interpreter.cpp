#include "engine/text/jinja/interpreter.h"

#include <algorithm>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/globals.h"
#include "engine/text/jinja/loop.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {

Interpreter::Nesting::Nesting(Interpreter& interpreter) : m_interpreter(interpreter) {
    if (++m_interpreter.m_depth > m_interpreter.m_limits.depth) {
        --m_interpreter.m_depth;
        raise("RecursionError", "maximum recursion depth exceeded");
    }
}

/// Collects what is written while it lives.
class Interpreter::Capture {
public:
    explicit Capture(Interpreter& interpreter)
        : m_interpreter(interpreter), m_outer(std::exchange(interpreter.m_out, &m_text)) {}
    ~Capture() { m_interpreter.m_out = m_outer; }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    std::string take() { return std::move(m_text); }

private:
    Interpreter& m_interpreter;
    std::string m_text;
    std::string* m_outer;
};

const Value* Scope::find(Symbol symbol) const {
    for (const auto& [name, value] : names) {
        if (name == symbol) {
            return &value;
        }
    }
    return nullptr;
}

void Scope::set(Symbol symbol, Value value) {
    for (auto& [name, held] : names) {
        if (name == symbol) {
            held = std::move(value);
            return;
        }
    }
    names.emplace_back(symbol, std::move(value));
}

Interpreter::Interpreter(const Template& code, const Limits& limits,
                         std::optional<std::int64_t> now)
    : m_code(code),
      m_limits(limits),
      m_now(now),
      m_heap(limits.memoryBytes),
      m_globals(nullptr),
      m_context(&m_globals),
      m_root(&m_context) {
    for (std::size_t i = 0; i < code.names.size(); ++i) {
        if (const NativeFunction function = findGlobal(code.names[i])) {
            m_globals.set(static_cast<Symbol>(i),
                          Value(&m_heap.make<Function>(code.names[i], function)));
        }
    }
}

void Interpreter::define(std::string_view name, Value value) {
    // A name that the template never says cannot be asked for.
    const auto found = std::find(m_code.names.begin(), m_code.names.end(), name);
    if (found != m_code.names.end()) {
        m_context.set(static_cast<Symbol>(found - m_code.names.begin()), std::move(value));
    }
}

std::string Interpreter::render() {
    Capture capture(*this);
    run(m_code.body, m_root);
    return capture.take();
}

Value Interpreter::text(std::string bytes, bool isMarkup) {
    stepBytes(bytes.size());
    return m_heap.text(std::move(bytes), isMarkup);
}

void Interpreter::step(std::uint64_t count) {
    m_steps += count;
    if (m_steps > m_limits.steps) {
        raise("RuntimeError",
              "the template takes more than " + std::to_string(m_limits.steps) + " steps");
    }
}

void Interpreter::checkSize(std::size_t bytes) const {
    if (bytes > m_limits.outputBytes) {
        raise("MemoryError",
              "a text is longer than " + std::to_string(m_limits.outputBytes >> 20U) + " MiB");
    }
}

std::vector<Value> Interpreter::itemsOf(const Value& value) {
    std::vector<Value> items;
    Cursor next = iterate(m_heap, value);
    Value item;
    while (next(item)) {
        step();
        m_heap.take(sizeof(Value));
        items.push_back(item);
    }
    return items;
}

void Interpreter::write(std::string_view text) {
    if (m_out->size() + text.size() > m_limits.outputBytes) {
        raise("MemoryError", "the template writes more than " +
                                 std::to_string(m_limits.outputBytes >> 20U) + " MiB");
    }
    stepBytes(text.size());
    *m_out += text;
}

Scope& Interpreter::newScope(Scope* parent) {
    m_heap.take(sizeof(Scope) + 64);
    m_scopes.push_back(std::make_unique<Scope>(parent));
    return *m_scopes.back();
}

Interpreter::Flow Interpreter::run(const Body& body, Scope& scope) {
    const Nesting nesting(*this);
    for (const auto& node : body) {
        try {
            step();
            const Flow flow = run(*node, scope);
            if (flow != Flow::kNormal) {
                return flow;
            }
        } catch (Failure& failure) {
            if (failure.line == 0) {
                failure.line = node->line;
            }
            throw;
        }
    }
    return Flow::kNormal;
}

Interpreter::Flow Interpreter::run(const Node& node, Scope& scope) {
    switch (node.kind) {
        case NodeKind::kData:
            write(static_cast<const DataNode&>(node).text);
            break;
        case NodeKind::kOutput:
            for (const ExprPtr& item : static_cast<const OutputNode&>(node).items) {
                const Value value = evaluate(*item, scope);
                if (value.isText()) {
                    write(value.text());
                } else {
                    write(toText(value));
                }
            }
            break;
        case NodeKind::kIf:
            return runIf(static_cast<const IfNode&>(node), scope);
        case NodeKind::kFor: {
            const auto& loop = static_cast<const ForNode&>(node);
            runFor(loop, evaluate(*loop.iterable, scope), scope, 0);
            break;
        }
        case NodeKind::kSet: {
            const auto& set = static_cast<const SetNode&>(node);
            assign(*set.target, evaluate(*set.value, scope), scope);
            break;
        }
        case NodeKind::kSetBlock:
            runSetBlock(static_cast<const SetBlockNode&>(node), scope);
            break;
        case NodeKind::kWith:
            runWith(static_cast<const WithNode&>(node), scope);
            break;
        case NodeKind::kMacro: {
            const auto& macro = static_cast<const MacroNode&>(node);
            scope.set(macro.symbol, Value(&m_heap.make<Macro>(macro, &scope)));
            break;
        }
        case NodeKind::kCallBlock:
            runCallBlock(static_cast<const CallBlockNode&>(node), scope);
            break;
        case NodeKind::kFilterBlock: {
            const auto& block = static_cast<const FilterBlockNode&>(node);
            const Value body = capture(block.body, newScope(&scope));
            const Value result =
                evaluateFilter(static_cast<const FilterExpr&>(*block.filter), &body, scope);
            if (!result.isText()) {
                raiseType("a filter block must give a text, not a " + typeName(result));
            }
            write(result.text());
            break;
        }
        case NodeKind::kScope: {
            const auto& block = static_cast<const ScopeNode&>(node);
            return run(block.body, newScope(block.startsAtRoot ? &m_root : &scope));
        }
        case NodeKind::kBreak:
            return Flow::kBreak;
        case NodeKind::kContinue:
            return Flow::kContinue;
    }
    return Flow::kNormal;
}

Value Interpreter::capture(const Body& body, Scope& scope) {
    Capture captured(*this);
    run(body, scope);
    return text(captured.take());
}

Interpreter::Flow Interpreter::runIf(const IfNode& node, Scope& scope) {
    for (const auto& [test, body] : node.branches) {
        if (isTrue(evaluate(*test, scope))) {
            return run(body, scope);
        }
    }
    return run(node.otherwise, scope);
}

void Interpreter::runFor(const ForNode& node, const Value& iterable, Scope& scope,
                         std::int64_t depth) {
    const Nesting nesting(*this);
    Cursor source = iterate(m_heap, iterable);
    std::optional<std::int64_t> length;
    if (node.filter == nullptr) {
        if (hasLength(iterable)) {
            length = lengthOf(iterable);
        }
    } else {
        source = [this, &node, &scope, from = std::move(source)](Value& out) {
            while (from(out)) {
                step();
                Scope& names = newScope(&scope);
                assign(*node.target, out, names);
                if (isTrue(evaluate(*node.filter, names))) {
                    return true;
                }
            }
            return false;
        };
    }
    auto& loop = m_heap.make<Loop>(std::move(source), length, depth);
    if (node.isRecursive) {
        loop.recursive = &node;
        loop.scope = &scope;
    }
    // The source looks into `scope`, which the loop object may outlive.
    struct Closer {
        Loop& loop;
        ~Closer() {
            loop.source = [](Value&) { return false; };
        }
    };
    const Closer closer{loop};
    Scope reused(&scope);
    bool isEmpty = true;
    while (loop.advance()) {
        isEmpty = false;
        step();
        Scope& names = node.isCaptured ? newScope(&scope) : reused;
        names.names.clear();
        names.set(m_code.loop, Value(&loop));
        assign(*node.target, loop.current, names);
        if (run(node.body, names) == Flow::kBreak) {
            return;
        }
    }
    if (isEmpty && !node.otherwise.empty()) {
        run(node.otherwise, newScope(&scope));
    }
}

void Interpreter::runSetBlock(const SetBlockNode& node, Scope& scope) {
    Value value = capture(node.body, newScope(&scope));
    if (node.filter != nullptr) {
        value = evaluateFilter(static_cast<const FilterExpr&>(*node.filter), &value, scope);
    }
    assign(*node.target, value, scope);
}

void Interpreter::runWith(const WithNode& node, Scope& scope) {
    Scope& names = newScope(&scope);
    for (const auto& [target, value] : node.assignments) {
        // Values do not see the names that stand beside them.
        assign(*target, evaluate(*value, scope), names);
    }
    run(node.body, names);
}

void Interpreter::runCallBlock(const CallBlockNode& node, Scope& scope) {
    const auto& call = static_cast<const CallExpr&>(*node.call);
    Arguments arguments = evaluateArguments(call.arguments, scope);
    arguments.named.emplace_back("caller", Value(&m_heap.make<Macro>(*node.caller, &scope)));
    write(toText(this->call(evaluate(*call.callee, scope), arguments)));
}

void Interpreter::assign(const Expr& target, const Value& value, Scope& scope) {
    if (target.kind == ExprKind::kName) {
        scope.set(static_cast<const NameExpr&>(target).symbol, value);
        return;
    }
    if (target.kind == ExprKind::kTuple) {
        assignItems(static_cast<const ItemsExpr&>(target), value, scope);
        return;
    }
    const auto& ref = static_cast<const NamespaceRefExpr&>(target);
    const Value object = lookUp(ref.symbol, scope);
    if (!object.is(Kind::kNamespace)) {
        raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
    }
    m_heap.take(sizeof(Dict::Entry));
    object.as<Namespace>().values.set(m_heap.text(ref.attr), value);
}

void Interpreter::assignItems(const ItemsExpr& target, const Value& value, Scope& scope) {
    const Nesting nesting(*this);
    if (!isIterable(value)) {
        raiseIfUndefined(value);
        raiseType("cannot unpack non-iterable " + typeName(value) + " object");
    }
    Cursor next = iterate(m_heap, value);
    Value item;
    const std::size_t wanted = target.items.size();
    for (std::size_t i = 0; i < wanted; ++i) {
        if (!next(item)) {
            raiseValue("not enough values to unpack (expected " + std::to_string(wanted) +
                       ", got " + std::to_string(i) + ")");
        }
        assign(*target.items[i], item, scope);
    }
    if (next(item)) {
        raiseValue("too many values to unpack (expected " + std::to_string(wanted) + ")");
    }
}

Value Interpreter::callLoop(Loop& loop, const Arguments& arguments) {
    if (loop.recursive == nullptr) {
        raiseType("The loop must have the 'recursive' marker to be called recursively.");
    }
    if (arguments.positional.size() + arguments.named.size() != 1) {
        raiseType("a recursive loop takes one iterable");
    }
    const Value& iterable = arguments.positional.empty() ? arguments.named.front().second
                                                         : arguments.positional.front();
    Capture capture(*this);
    runFor(*loop.recursive, iterable, *loop.scope, loop.depth0 + 1);
    return text(capture.take());
}

Value Interpreter::callMacro(const Macro& macro, const Arguments& arguments) {
    const Nesting nesting(*this);
    Scope& scope = newScope(macro.definedIn);
    bindParameters(macro.node, arguments, scope);
    return capture(macro.node.body, scope);
}

void Interpreter::bindParameters(const MacroNode& node, const Arguments& arguments, Scope& scope) {
    std::vector<std::pair<std::string, Value>> named = arguments.named;
    const auto takeNamed = [&named](std::string_view name, Value& out) {
        const auto found = std::find_if(named.begin(), named.end(),
                                        [name](const auto& n) { return n.first == name; });
        if (found == named.end()) {
            return false;
        }
        out = std::move(found->second);
        named.erase(found);
        return true;
    };
    Value value;
    const std::size_t count = node.parameters.size();
    const std::size_t given = std::min(count, arguments.positional.size());
    for (std::size_t i = 0; i < given; ++i) {
        scope.set(node.parameters[i].first, arguments.positional[i]);
    }
    for (std::size_t i = given; i < count; ++i) {
        const auto& [symbol, name] = node.parameters[i];
        if (takeNamed(name, value)) {
            scope.set(symbol, value);
        } else if (i + node.defaults.size() < count) {
            scope.set(symbol, m_heap.undefined("parameter '" + name + "' was not provided"));
        }
    }
    // Defaults may name the parameters before them.
    for (std::size_t i = std::max(given, count - node.defaults.size()); i < count; ++i) {
        const Symbol symbol = node.parameters[i].first;
        if (scope.find(symbol) == nullptr) {
            scope.set(symbol, evaluate(*node.defaults[i + node.defaults.size() - count], scope));
        }
    }
    if (node.usesCaller) {
        scope.set(m_code.caller,
                  takeNamed("caller", value) ? value : m_heap.undefined("No caller defined"));
    }
    const std::string shown = node.name.empty() ? "None" : "'" + node.name + "'";
    if (node.usesKwargs) {
        auto& rest = m_heap.make<Dict>();
        for (const auto& [name, held] : named) {
            rest.set(m_heap.text(name), held);
        }
        scope.set(m_code.kwargs, Value(&rest));
    } else if (!named.empty()) {
        if (std::any_of(named.begin(), named.end(),
                        [](const auto& n) { return n.first == "caller"; }) &&
            node.usesCaller) {
            raiseType("macro " + shown +
                      " was invoked with two values for the special caller argument.");
        }
        raiseType("macro " + shown + " takes no keyword argument '" + named.front().first + "'");
    }
    if (node.usesVarargs) {
        scope.set(m_code.varargs,
                  m_heap.tuple({arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                                arguments.positional.end()}));
    } else if (arguments.positional.size() > count) {
        raiseType("macro " + shown + " takes not more than " + std::to_string(count) +
                  " argument(s)");
    }
}

}  // namespace quern::engine::jinja
