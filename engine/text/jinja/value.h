#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace quern::engine::jinja {

class Interpreter;
class Value;
struct Arguments;
struct MacroNode;
struct Scope;

enum class Kind : std::uint8_t {
    kUndefined,
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    // Objects, owned by a Heap:
    kBigInt,
    kList,
    kTuple,
    kDict,
    kDictView,
    kRange,
    kIterator,
    kNamespace,
    kMacro,
    kFunction,
    kMethod,
    kLoop,
    kCycler,
    kJoiner,
};

/// Bytes that the values of one rendering hold, against their limit.
struct MemoryCount {
    std::size_t used = 0;
    std::size_t limit = 0;
    /// Throws MemoryError beyond the limit.
    void take(std::size_t bytes);
    void give(std::size_t bytes) { used -= bytes; }
};

/// A string: valid UTF-8, immutable. `isMarkup` is what the `safe` filter makes: text joined to it
/// gets HTML-escaped.
struct Text {
    Text(std::string text, bool markup, MemoryCount* count);
    ~Text();
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    std::string bytes;
    std::size_t length;  // code points
    bool isMarkup;
    MemoryCount* memory;  // null for constants of a template

    [[nodiscard]] bool isAscii() const { return length == bytes.size(); }
};

struct Object {
    explicit Object(Kind k) : kind(k) {}
    virtual ~Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    const Kind kind;
};

/// A value of the template language. Small and copied freely; text is shared, objects belong to the
/// rendering's Heap and are borrowed.
class Value {
public:
    Value() = default;  // None
    explicit Value(bool value) : m_data(value) {}
    explicit Value(std::int64_t value) : m_data(value) {}
    explicit Value(double value) : m_data(value) {}
    explicit Value(std::shared_ptr<const Text> text) : m_data(std::move(text)) {}
    explicit Value(Object* object) : m_data(object) {}

    [[nodiscard]] Kind kind() const;
    [[nodiscard]] bool is(Kind k) const { return kind() == k; }
    [[nodiscard]] bool isNone() const { return is(Kind::kNone); }
    [[nodiscard]] bool isUndefined() const { return is(Kind::kUndefined); }
    [[nodiscard]] bool isText() const { return is(Kind::kText); }
    [[nodiscard]] bool isMarkup() const { return isText() && textObject().isMarkup; }

    [[nodiscard]] bool boolean() const { return std::get<bool>(m_data); }
    [[nodiscard]] std::int64_t integer() const { return std::get<std::int64_t>(m_data); }
    [[nodiscard]] double number() const { return std::get<double>(m_data); }
    [[nodiscard]] const Text& textObject() const {
        return *std::get<std::shared_ptr<const Text>>(m_data);
    }
    [[nodiscard]] std::string_view text() const { return textObject().bytes; }
    /// The object as its own type; its kind must have been checked.
    template <class T>
    [[nodiscard]] T& as() const {
        return *static_cast<T*>(std::get<Object*>(m_data));
    }
    /// Identity, for `is sameas`.
    [[nodiscard]] const void* address() const;

private:
    std::variant<std::monostate, bool, std::int64_t, double, std::shared_ptr<const Text>, Object*>
        m_data;
};

/// What a missing variable or attribute gives. Printing and iterating it is fine, all else raises
/// `message` as `errorType`.
struct Undefined : Object {
    Undefined(std::string text, std::string type)
        : Object(Kind::kUndefined), message(std::move(text)), errorType(std::move(type)) {}
    std::string message;
    std::string errorType;
};

/// An integer beyond 64 bits, as JSON may hold. It is carried and printed, not computed with.
struct BigInt : Object {
    explicit BigInt(std::string text) : Object(Kind::kBigInt), digits(std::move(text)) {}
    std::string digits;  // with sign, no leading zeros
};

/// A list or a tuple.
struct Sequence : Object {
    Sequence(Kind k, std::vector<Value> values) : Object(k), items(std::move(values)) {}
    std::vector<Value> items;
    bool isGroup = false;  // a pair of groupby: items are named grouper and list
};

/// Keeps the order of insertion, as Python's does. Keys are hashable values.
struct Dict : Object {
    Dict() : Object(Kind::kDict) {}
    using Entry = std::pair<Value, Value>;

    /// Null when absent. Throws TypeError for keys that cannot be hashed.
    [[nodiscard]] Value* find(const Value& key);
    [[nodiscard]] Value* find(std::string_view key);
    void set(const Value& key, Value value);
    bool erase(const Value& key);
    void clear();
    [[nodiscard]] const std::vector<Entry>& entries() const { return m_entries; }

private:
    [[nodiscard]] std::size_t indexOf(const Value& key, std::size_t hash) const;
    void rebuildIndex();

    std::vector<Entry> m_entries;
    std::unordered_multimap<std::size_t, std::size_t> m_index;  // hash → position
};

/// What dict.keys(), values() and items() return: it follows changes of the dict.
struct DictView : Object {
    enum class Part : std::uint8_t { kKeys, kValues, kItems };
    DictView(Dict& source, Part which) : Object(Kind::kDictView), dict(source), part(which) {}
    Dict& dict;
    Part part;
};

struct Range : Object {
    Range(std::int64_t first, std::int64_t end, std::int64_t by)
        : Object(Kind::kRange), start(first), stop(end), step(by) {}
    [[nodiscard]] std::int64_t length() const;
    std::int64_t start;
    std::int64_t stop;
    std::int64_t step;
};

/// Puts the next item into its argument; false at the end.
using Cursor = std::function<bool(Value&)>;

/// An iterator or generator: gives its items once, has no length.
struct Iterator : Object {
    Iterator(Cursor cursor, std::string type)
        : Object(Kind::kIterator), next(std::move(cursor)), typeName(std::move(type)) {}
    Cursor next;
    std::string typeName;
};

/// A mutable object with attributes, the only one that `set` reaches into.
struct Namespace : Object {
    Namespace() : Object(Kind::kNamespace) {}
    Dict values;
};

struct Macro : Object {
    Macro(const MacroNode& code, Scope* where)
        : Object(Kind::kMacro), node(code), definedIn(where) {}
    const MacroNode& node;
    Scope* definedIn;
};

using NativeFunction = Value (*)(Interpreter&, const Arguments&);
struct Function : Object {
    Function(std::string functionName, NativeFunction function)
        : Object(Kind::kFunction), name(std::move(functionName)), call(function) {}
    std::string name;
    NativeFunction call;
};

using NativeMethod = Value (*)(Interpreter&, const Value& self, const Arguments&);
struct Method : Object {
    Method(Value receiver, std::string_view methodName, NativeMethod method)
        : Object(Kind::kMethod), self(std::move(receiver)), name(methodName), call(method) {}
    Value self;
    std::string_view name;  // static storage
    NativeMethod call;
};

struct Cycler : Object {
    explicit Cycler(std::vector<Value> values) : Object(Kind::kCycler), items(std::move(values)) {}
    std::vector<Value> items;
    std::size_t position = 0;
};

struct Joiner : Object {
    explicit Joiner(Value text) : Object(Kind::kJoiner), separator(std::move(text)) {}
    Value separator;
    bool wasUsed = false;
};

/// Arguments of a call, in the order written. Names are unique.
struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

/// Owns the objects of one rendering until it ends, so that cycles among them are no matter.
/// Belongs to one thread.
class Heap {
public:
    explicit Heap(std::size_t limitBytes) { m_memory.limit = limitBytes; }

    template <class T, class... Args>
    T& make(Args&&... args) {
        m_memory.take(sizeof(T) + kOverhead);
        auto object = std::make_unique<T>(std::forward<Args>(args)...);
        T& made = *object;
        m_objects.push_back(std::move(object));
        return made;
    }
    /// Counts bytes that an object holds beside itself.
    void take(std::size_t bytes) { m_memory.take(bytes); }

    [[nodiscard]] Value text(std::string bytes, bool isMarkup = false);
    [[nodiscard]] Value list(std::vector<Value> items);
    [[nodiscard]] Value tuple(std::vector<Value> items);
    [[nodiscard]] Value undefined(std::string message, std::string errorType = "UndefinedError");

private:
    static constexpr std::size_t kOverhead = 32;  // allocator and bookkeeping, roughly
    MemoryCount m_memory;                         // before the objects: their texts give back to it
    std::vector<std::unique_ptr<Object>> m_objects;
};

/// A text that belongs to a template and not to a rendering.
[[nodiscard]] Value constantText(std::string bytes);

}  // namespace quern::engine::jinja
