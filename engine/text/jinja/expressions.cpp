// How the Interpreter evaluates expressions.
#include <algorithm>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/tests.h"

namespace quern::engine::jinja {

Value Interpreter::evaluate(const Expr& expr, Scope& scope) {
    const Nesting nesting(*this);
    step();
    switch (expr.kind) {
        case ExprKind::kConstant:
            return static_cast<const ConstantExpr&>(expr).value;
        case ExprKind::kName:
            return lookUp(static_cast<const NameExpr&>(expr).symbol, scope);
        case ExprKind::kNamespaceRef: {
            const auto& ref = static_cast<const NamespaceRefExpr&>(expr);
            return attribute(lookUp(ref.symbol, scope), ref.attr);
        }
        case ExprKind::kTuple:
        case ExprKind::kList:
            return evaluateItems(static_cast<const ItemsExpr&>(expr), scope);
        case ExprKind::kDict:
            return evaluateDict(static_cast<const DictExpr&>(expr), scope);
        case ExprKind::kUnary: {
            const auto& unary = static_cast<const UnaryExpr&>(expr);
            return signedValue(unary.isMinus, evaluate(*unary.operand, scope));
        }
        case ExprKind::kBinary: {
            const auto& binary = static_cast<const BinaryExpr&>(expr);
            const Value left = evaluate(*binary.left, scope);
            return calculate(*this, binary.op, left, evaluate(*binary.right, scope));
        }
        case ExprKind::kConcat:
            return evaluateConcat(static_cast<const ConcatExpr&>(expr), scope);
        case ExprKind::kCompare:
            return evaluateCompare(static_cast<const CompareExpr&>(expr), scope);
        case ExprKind::kAnd:
        case ExprKind::kOr: {
            const auto& binary = static_cast<const BinaryExpr&>(expr);
            Value left = evaluate(*binary.left, scope);
            const bool decides = isTrue(left) == (expr.kind == ExprKind::kOr);
            return decides ? left : evaluate(*binary.right, scope);
        }
        case ExprKind::kNot:
            return Value(!isTrue(evaluate(*static_cast<const NotExpr&>(expr).operand, scope)));
        case ExprKind::kConditional:
            return evaluateConditional(static_cast<const ConditionalExpr&>(expr), scope);
        case ExprKind::kAttribute: {
            const auto& access = static_cast<const AttributeExpr&>(expr);
            return attribute(evaluate(*access.object, scope), access.name);
        }
        case ExprKind::kSubscript:
            return evaluateSubscript(static_cast<const SubscriptExpr&>(expr), scope);
        case ExprKind::kSlice:
            raiseType("a slice stands only between brackets of its own");
        case ExprKind::kCall: {
            const auto& made = static_cast<const CallExpr&>(expr);
            const Value callee = evaluate(*made.callee, scope);
            return call(callee, evaluateArguments(made.arguments, scope));
        }
        case ExprKind::kFilter:
            return evaluateFilter(static_cast<const FilterExpr&>(expr), nullptr, scope);
        case ExprKind::kTest:
            return evaluateTest(static_cast<const TestExpr&>(expr), scope);
    }
    return {};
}

Value Interpreter::lookUp(Symbol symbol, const Scope& scope) {
    for (const Scope* at = &scope; at != nullptr; at = at->parent) {
        if (const Value* found = at->find(symbol)) {
            return *found;
        }
    }
    return m_heap.undefined("'" + m_code.names[symbol] + "' is undefined");
}

Value Interpreter::evaluateItems(const ItemsExpr& expr, Scope& scope) {
    std::vector<Value> items;
    items.reserve(expr.items.size());
    for (const ExprPtr& item : expr.items) {
        items.push_back(evaluate(*item, scope));
    }
    return expr.kind == ExprKind::kTuple ? m_heap.tuple(std::move(items))
                                         : m_heap.list(std::move(items));
}

Value Interpreter::evaluateDict(const DictExpr& expr, Scope& scope) {
    auto& dict = m_heap.make<Dict>();
    m_heap.take(expr.pairs.size() * sizeof(Dict::Entry));
    for (const auto& [key, value] : expr.pairs) {
        const Value name = evaluate(*key, scope);
        dict.set(name, evaluate(*value, scope));
    }
    return Value(&dict);
}

Value Interpreter::evaluateConcat(const ConcatExpr& expr, Scope& scope) {
    std::string joined;
    for (const ExprPtr& item : expr.items) {
        const Value value = evaluate(*item, scope);
        if (value.isText()) {
            joined += value.text();
        } else {
            joined += toText(value);
        }
    }
    return text(std::move(joined));
}

Value Interpreter::evaluateCompare(const CompareExpr& expr, Scope& scope) {
    Value left = evaluate(*expr.first, scope);
    for (const auto& [op, operand] : expr.rest) {
        Value right = evaluate(*operand, scope);
        if (!compare(*this, op, left, right)) {
            return Value(false);
        }
        left = std::move(right);
    }
    return Value(true);
}

Value Interpreter::evaluateConditional(const ConditionalExpr& expr, Scope& scope) {
    if (isTrue(evaluate(*expr.test, scope))) {
        return evaluate(*expr.whenTrue, scope);
    }
    if (expr.whenFalse != nullptr) {
        return evaluate(*expr.whenFalse, scope);
    }
    return m_heap.undefined("the inline if-expression on line " + std::to_string(expr.line) +
                            " evaluated to false and no else section was defined.");
}

Value Interpreter::evaluateSubscript(const SubscriptExpr& expr, Scope& scope) {
    const Value object = evaluate(*expr.object, scope);
    if (expr.index->kind != ExprKind::kSlice) {
        return item(object, evaluate(*expr.index, scope));
    }
    const auto& slice = static_cast<const SliceExpr&>(*expr.index);
    const auto bound = [&](const ExprPtr& part) {
        return part == nullptr ? Value() : evaluate(*part, scope);
    };
    const Value start = bound(slice.start);
    const Value stop = bound(slice.stop);
    return sliceOf(*this, object, start, stop, bound(slice.step));
}

Arguments Interpreter::evaluateArguments(const CallArguments& arguments, Scope& scope) {
    Arguments out;
    out.positional.reserve(arguments.positional.size());
    for (const ExprPtr& argument : arguments.positional) {
        out.positional.push_back(evaluate(*argument, scope));
    }
    if (arguments.positionalRest != nullptr) {
        const Value rest = evaluate(*arguments.positionalRest, scope);
        if (!isIterable(rest)) {
            raiseType("argument after * must be an iterable, not " + typeName(rest));
        }
        for (Value& item : itemsOf(rest)) {
            out.positional.push_back(std::move(item));
        }
    }
    for (const auto& [name, argument] : arguments.named) {
        out.named.emplace_back(name, evaluate(*argument, scope));
    }
    if (arguments.namedRest != nullptr) {
        const Value rest = evaluate(*arguments.namedRest, scope);
        if (!rest.is(Kind::kDict)) {
            raiseType("argument after ** must be a mapping, not " + typeName(rest));
        }
        for (const auto& [key, value] : rest.as<Dict>().entries()) {
            if (!key.isText()) {
                raiseType("keywords must be strings");
            }
            const std::string name(key.text());
            if (std::any_of(out.named.begin(), out.named.end(),
                            [&name](const auto& given) { return given.first == name; })) {
                raiseType("got multiple values for keyword argument '" + name + "'");
            }
            out.named.emplace_back(name, value);
        }
    }
    return out;
}

Value Interpreter::evaluateFilter(const FilterExpr& expr, const Value* blockText, Scope& scope) {
    Value input;
    if (expr.input == nullptr) {
        input = *blockText;
    } else if (blockText != nullptr) {
        const Nesting nesting(*this);
        input = evaluateFilter(static_cast<const FilterExpr&>(*expr.input), blockText, scope);
    } else {
        input = evaluate(*expr.input, scope);
    }
    if (expr.filter == nullptr) {
        raise("TemplateRuntimeError", "No filter named '" + expr.name + "' found.");
    }
    return expr.filter->apply(*this, input, evaluateArguments(expr.arguments, scope));
}

Value Interpreter::evaluateTest(const TestExpr& expr, Scope& scope) {
    const Value input = evaluate(*expr.input, scope);
    if (expr.test == nullptr) {
        raise("TemplateRuntimeError", "No test named '" + expr.name + "' found.");
    }
    return Value(expr.test->apply(*this, input, evaluateArguments(expr.arguments, scope)));
}

Value Interpreter::applyFilter(std::string_view name, const Value& input,
                               const Arguments& arguments) {
    const FilterEntry* filter = findFilter(name);
    if (filter == nullptr) {
        raise("TemplateRuntimeError", "No filter named '" + std::string(name) + "'.");
    }
    const Nesting nesting(*this);
    step();
    return filter->apply(*this, input, arguments);
}

bool Interpreter::applyTest(std::string_view name, const Value& input, const Arguments& arguments) {
    const TestEntry* test = findTest(name);
    if (test == nullptr) {
        raise("TemplateRuntimeError", "No test named '" + std::string(name) + "'.");
    }
    step();
    return test->apply(*this, input, arguments);
}

}  // namespace quern::engine::jinja
