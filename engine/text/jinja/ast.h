#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// A name in a template's table of names.
using Symbol = std::uint32_t;

enum class ExprKind : std::uint8_t {
    kConstant,
    kName,
    kNamespaceRef,  // ns.attr as a target of set
    kTuple,
    kList,
    kDict,
    kUnary,
    kBinary,
    kConcat,
    kCompare,
    kAnd,
    kOr,
    kNot,
    kConditional,
    kAttribute,
    kSubscript,
    kSlice,
    kCall,
    kFilter,
    kTest,
};

struct Expr {
    Expr(ExprKind k, int lineNumber) : kind(k), line(lineNumber) {}
    virtual ~Expr() = default;
    Expr(const Expr&) = delete;
    Expr& operator=(const Expr&) = delete;
    const ExprKind kind;
    const int line;
    int height = 1;  // of the tree below: bounded, so that walking it cannot exhaust the stack
};
using ExprPtr = std::unique_ptr<Expr>;

struct ConstantExpr : Expr {
    ConstantExpr(Value constant, int lineNumber)
        : Expr(ExprKind::kConstant, lineNumber), value(std::move(constant)) {}
    Value value;
};

struct NameExpr : Expr {
    NameExpr(Symbol name, int lineNumber) : Expr(ExprKind::kName, lineNumber), symbol(name) {}
    Symbol symbol;
};

struct NamespaceRefExpr : Expr {
    NamespaceRefExpr(Symbol name, std::string attribute, int lineNumber)
        : Expr(ExprKind::kNamespaceRef, lineNumber), symbol(name), attr(std::move(attribute)) {}
    Symbol symbol;
    std::string attr;
};

/// A tuple or a list.
struct ItemsExpr : Expr {
    using Expr::Expr;
    std::vector<ExprPtr> items;
};

struct DictExpr : Expr {
    explicit DictExpr(int lineNumber) : Expr(ExprKind::kDict, lineNumber) {}
    std::vector<std::pair<ExprPtr, ExprPtr>> pairs;
};

enum class Operator : std::uint8_t {
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kFloorDivide,
    kModulo,
    kPower,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kIn,
    kNotIn,
};

struct UnaryExpr : Expr {
    UnaryExpr(bool negates, ExprPtr value, int lineNumber)
        : Expr(ExprKind::kUnary, lineNumber), isMinus(negates), operand(std::move(value)) {}
    bool isMinus;
    ExprPtr operand;
};

/// Also And and Or, which leave `op` unused.
struct BinaryExpr : Expr {
    BinaryExpr(ExprKind k, Operator which, ExprPtr l, ExprPtr r, int lineNumber)
        : Expr(k, lineNumber), op(which), left(std::move(l)), right(std::move(r)) {}
    Operator op;
    ExprPtr left;
    ExprPtr right;
};

struct ConcatExpr : Expr {
    explicit ConcatExpr(int lineNumber) : Expr(ExprKind::kConcat, lineNumber) {}
    std::vector<ExprPtr> items;
};

struct CompareExpr : Expr {
    explicit CompareExpr(int lineNumber) : Expr(ExprKind::kCompare, lineNumber) {}
    ExprPtr first;
    std::vector<std::pair<Operator, ExprPtr>> rest;
};

struct NotExpr : Expr {
    NotExpr(ExprPtr value, int lineNumber)
        : Expr(ExprKind::kNot, lineNumber), operand(std::move(value)) {}
    ExprPtr operand;
};

struct ConditionalExpr : Expr {
    explicit ConditionalExpr(int lineNumber) : Expr(ExprKind::kConditional, lineNumber) {}
    ExprPtr test;
    ExprPtr whenTrue;
    ExprPtr whenFalse;  // null: undefined
};

struct AttributeExpr : Expr {
    AttributeExpr(ExprPtr target, std::string attribute, int lineNumber)
        : Expr(ExprKind::kAttribute, lineNumber),
          object(std::move(target)),
          name(std::move(attribute)) {}
    ExprPtr object;
    std::string name;
};

struct SubscriptExpr : Expr {
    SubscriptExpr(ExprPtr target, ExprPtr key, int lineNumber)
        : Expr(ExprKind::kSubscript, lineNumber),
          object(std::move(target)),
          index(std::move(key)) {}
    ExprPtr object;
    ExprPtr index;
};

struct SliceExpr : Expr {
    explicit SliceExpr(int lineNumber) : Expr(ExprKind::kSlice, lineNumber) {}
    ExprPtr start;  // each may be null
    ExprPtr stop;
    ExprPtr step;
};

struct CallArguments {
    std::vector<ExprPtr> positional;
    std::vector<std::pair<std::string, ExprPtr>> named;
    ExprPtr positionalRest;  // *args, or null
    ExprPtr namedRest;       // **kwargs, or null
};

struct CallExpr : Expr {
    explicit CallExpr(int lineNumber) : Expr(ExprKind::kCall, lineNumber) {}
    ExprPtr callee;
    CallArguments arguments;
};

struct FilterEntry;
struct TestEntry;

/// `input` is null for the text of a filter or set block.
struct FilterExpr : Expr {
    explicit FilterExpr(int lineNumber) : Expr(ExprKind::kFilter, lineNumber) {}
    ExprPtr input;
    std::string name;
    const FilterEntry* filter = nullptr;  // null: unknown, an error when it is reached
    CallArguments arguments;
};

struct TestExpr : Expr {
    explicit TestExpr(int lineNumber) : Expr(ExprKind::kTest, lineNumber) {}
    ExprPtr input;
    std::string name;
    const TestEntry* test = nullptr;
    CallArguments arguments;
};

enum class NodeKind : std::uint8_t {
    kData,
    kOutput,
    kIf,
    kFor,
    kSet,
    kSetBlock,
    kWith,
    kMacro,
    kCallBlock,
    kFilterBlock,
    kScope,  // a body with names of its own: block, generation, autoescape false
    kBreak,
    kContinue,
};

struct Node {
    Node(NodeKind k, int lineNumber) : kind(k), line(lineNumber) {}
    virtual ~Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    const NodeKind kind;
    const int line;
};
using Body = std::vector<std::unique_ptr<Node>>;

struct DataNode : Node {
    DataNode(std::string data, int lineNumber)
        : Node(NodeKind::kData, lineNumber), text(std::move(data)) {}
    std::string text;
};

struct OutputNode : Node {
    explicit OutputNode(int lineNumber) : Node(NodeKind::kOutput, lineNumber) {}
    std::vector<ExprPtr> items;
};

struct IfNode : Node {
    explicit IfNode(int lineNumber) : Node(NodeKind::kIf, lineNumber) {}
    std::vector<std::pair<ExprPtr, Body>> branches;
    Body otherwise;
};

struct ForNode : Node {
    explicit ForNode(int lineNumber) : Node(NodeKind::kFor, lineNumber) {}
    ExprPtr target;
    ExprPtr iterable;
    ExprPtr filter;  // may be null
    bool isRecursive = false;
    /// Something in the body may outlive an iteration and look at its names: a macro, a caller.
    bool isCaptured = false;
    Body body;
    Body otherwise;
};

struct SetNode : Node {
    explicit SetNode(int lineNumber) : Node(NodeKind::kSet, lineNumber) {}
    ExprPtr target;
    ExprPtr value;
};

struct SetBlockNode : Node {
    explicit SetBlockNode(int lineNumber) : Node(NodeKind::kSetBlock, lineNumber) {}
    ExprPtr target;
    ExprPtr filter;  // may be null
    Body body;
};

struct WithNode : Node {
    explicit WithNode(int lineNumber) : Node(NodeKind::kWith, lineNumber) {}
    std::vector<std::pair<ExprPtr, ExprPtr>> assignments;
    Body body;
};

struct MacroNode : Node {
    explicit MacroNode(int lineNumber) : Node(NodeKind::kMacro, lineNumber) {}
    std::string name;  // empty for the body of a call block
    Symbol symbol = 0;
    std::vector<std::pair<Symbol, std::string>> parameters;
    std::vector<ExprPtr> defaults;  // of the last parameters
    bool usesCaller = false;
    bool usesVarargs = false;
    bool usesKwargs = false;
    Body body;
};

struct CallBlockNode : Node {
    explicit CallBlockNode(int lineNumber) : Node(NodeKind::kCallBlock, lineNumber) {}
    std::unique_ptr<MacroNode> caller;
    ExprPtr call;  // a CallExpr
};

struct FilterBlockNode : Node {
    explicit FilterBlockNode(int lineNumber) : Node(NodeKind::kFilterBlock, lineNumber) {}
    ExprPtr filter;
    Body body;
};

struct ScopeNode : Node {
    explicit ScopeNode(int lineNumber) : Node(NodeKind::kScope, lineNumber) {}
    /// A `block` sees the template's own names but not those of loops around it.
    bool startsAtRoot = false;
    Body body;
};

struct JumpNode : Node {
    using Node::Node;
};

/// A parsed template. Immutable; any thread.
struct Template {
    Body body;
    std::vector<std::string> names;  // by Symbol
    Symbol loop = 0;                 // symbols that the language itself sets
    Symbol caller = 0;
    Symbol varargs = 0;
    Symbol kwargs = 0;
};

}  // namespace quern::engine::jinja
