#include "engine/text/jinja/repr.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/loop.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

constexpr int kMostReprNesting = 200;
// A value may hold itself many times over: what is printed is bounded, not only how deep.
constexpr std::size_t kMaxBytes = std::size_t{32} << 20U;

void appendEscaped(std::string& out, char32_t c) {
    std::array<char, 16> buffer{};
    const auto code = static_cast<unsigned>(c);
    const char* format = code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x";
    std::snprintf(buffer.data(), buffer.size(), format, code);
    out += buffer.data();
}

void appendReprText(std::string& out, std::string_view text, bool asciiOnly) {
    const bool useDouble =
        text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
    const char quote = useDouble ? '"' : '\'';
    out += quote;
    for (std::size_t pos = 0; pos < text.size();) {
        const std::size_t start = pos;
        const char32_t c = nextCodePoint(text, pos);
        if (c == static_cast<char32_t>(quote) || c == U'\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c == U'\n') {
            out += "\\n";
        } else if (c == U'\r') {
            out += "\\r";
        } else if (c == U'\t') {
            out += "\\t";
        } else if (c < 0x20 || c == 0x7F || (c >= 0x80 && (asciiOnly || !isPrintable(c)))) {
            appendEscaped(out, c);
        } else {
            out += text.substr(start, pos - start);
        }
    }
    out += quote;
}

class Printer {
public:
    explicit Printer(bool asciiOnly, bool sortsKeys = false)
        : m_asciiOnly(asciiOnly), m_sortsKeys(sortsKeys) {}

    void put(const Value& value, int depth) {
        if (depth > kMostReprNesting) {
            raise("RecursionError", "maximum recursion depth exceeded while getting the repr");
        }
        if (m_out.size() > kMaxBytes) {
            raise("MemoryError", "a printed value is longer than 32 MiB");
        }
        switch (value.kind()) {
            case Kind::kUndefined:
                m_out += "Undefined";
                break;
            case Kind::kNone:
                m_out += "None";
                break;
            case Kind::kBool:
                m_out += value.boolean() ? "True" : "False";
                break;
            case Kind::kInt:
                m_out += std::to_string(value.integer());
                break;
            case Kind::kFloat:
                m_out += floatRepr(value.number());
                break;
            case Kind::kText:
                if (value.isMarkup()) {
                    m_out += "Markup(";
                    appendReprText(m_out, value.text(), m_asciiOnly);
                    m_out += ')';
                } else {
                    appendReprText(m_out, value.text(), m_asciiOnly);
                }
                break;
            case Kind::kBigInt:
                m_out += value.as<BigInt>().digits;
                break;
            case Kind::kList:
                putItems('[', value.as<Sequence>().items, ']', depth);
                break;
            case Kind::kTuple:
                putTuple(value.as<Sequence>().items, depth);
                break;
            case Kind::kDict:
                putDict(value.as<Dict>(), depth);
                break;
            case Kind::kDictView:
                putView(value.as<DictView>(), depth);
                break;
            case Kind::kRange:
                putRange(value.as<Range>());
                break;
            case Kind::kIterator:
                m_out += "<" + value.as<Iterator>().typeName + " object>";
                break;
            case Kind::kNamespace:
                m_out += "<Namespace ";
                putDict(value.as<Namespace>().values, depth);
                m_out += '>';
                break;
            case Kind::kMacro:
                putMacro(value.as<Macro>());
                break;
            case Kind::kFunction:
                m_out += "<function " + value.as<Function>().name + ">";
                break;
            case Kind::kMethod: {
                const auto& method = value.as<Method>();
                m_out += "<built-in method " + std::string(method.name) + " of " +
                         typeName(method.self) + " object>";
                break;
            }
            case Kind::kLoop: {
                const auto& loop = value.as<Loop>();
                m_out += "<LoopContext " + std::to_string(loop.index0 + 1) + "/" +
                         std::to_string(loop.length.value_or(loop.index0 + 1)) + ">";
                break;
            }
            case Kind::kCycler:
                m_out += "<Cycler>";
                break;
            case Kind::kJoiner:
                m_out += "<Joiner>";
                break;
        }
    }

    std::string take() { return std::move(m_out); }

private:
    void putItems(char open, const std::vector<Value>& items, char close, int depth) {
        m_out += open;
        for (std::size_t i = 0; i < items.size(); ++i) {
            m_out += i == 0 ? "" : ", ";
            put(items[i], depth + 1);
        }
        m_out += close;
    }

    void putTuple(const std::vector<Value>& items, int depth) {
        if (items.size() == 1) {
            m_out += '(';
            put(items[0], depth + 1);
            m_out += ",)";
        } else {
            putItems('(', items, ')', depth);
        }
    }

    void putDict(const Dict& dict, int depth) {
        std::vector<const Dict::Entry*> entries;
        bool areTexts = true;
        bool areIntegers = true;
        for (const Dict::Entry& entry : dict.entries()) {
            entries.push_back(&entry);
            areTexts = areTexts && entry.first.isText();
            areIntegers = areIntegers && entry.first.is(Kind::kInt);
        }
        if (m_sortsKeys && areTexts) {
            std::stable_sort(entries.begin(), entries.end(),
                             [](const auto* left, const auto* right) {
                                 return left->first.text() < right->first.text();
                             });
        }
        if (m_sortsKeys && areIntegers) {
            std::stable_sort(entries.begin(), entries.end(),
                             [](const auto* left, const auto* right) {
                                 return left->first.integer() < right->first.integer();
                             });
        }
        m_out += '{';
        bool isFirst = true;
        for (const Dict::Entry* entry : entries) {
            m_out += isFirst ? "" : ", ";
            isFirst = false;
            put(entry->first, depth + 1);
            m_out += ": ";
            put(entry->second, depth + 1);
        }
        m_out += '}';
    }

    void putView(const DictView& view, int depth) {
        constexpr std::array<const char*, 3> kNames = {"dict_keys([", "dict_values([",
                                                       "dict_items(["};
        m_out += kNames[static_cast<std::size_t>(view.part)];
        bool isFirst = true;
        for (const auto& [key, value] : view.dict.entries()) {
            m_out += isFirst ? "" : ", ";
            isFirst = false;
            switch (view.part) {
                case DictView::Part::kKeys:
                    put(key, depth + 1);
                    break;
                case DictView::Part::kValues:
                    put(value, depth + 1);
                    break;
                case DictView::Part::kItems:
                    m_out += '(';
                    put(key, depth + 1);
                    m_out += ", ";
                    put(value, depth + 1);
                    m_out += ')';
                    break;
            }
        }
        m_out += "])";
    }

    void putRange(const Range& range) {
        m_out += "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
        if (range.step != 1) {
            m_out += ", " + std::to_string(range.step);
        }
        m_out += ')';
    }

    void putMacro(const Macro& macro) {
        if (macro.node.name.empty()) {
            m_out += "<Macro anonymous>";
        } else {
            m_out += "<Macro ";
            appendReprText(m_out, macro.node.name, m_asciiOnly);
            m_out += '>';
        }
    }

    std::string m_out;
    bool m_asciiOnly;
    bool m_sortsKeys;
};

/// Walks code points; keeps the text alive.
Cursor iterateText(Heap& heap, const Value& text) {
    return [&heap, text, pos = std::size_t{0}](Value& out) mutable {
        const std::string_view all = text.text();
        if (pos >= all.size()) {
            return false;
        }
        const std::size_t start = pos;
        (void)nextCodePoint(all, pos);
        out = heap.text(std::string(all.substr(start, pos - start)));
        return true;
    };
}

Cursor iterateDict(Heap& heap, Dict& dict, DictView::Part part) {
    return [&heap, &dict, part, size = dict.entries().size(),
            at = std::size_t{0}](Value& out) mutable {
        if (dict.entries().size() != size) {
            raise("RuntimeError", "dictionary changed size during iteration");
        }
        if (at >= size) {
            return false;
        }
        out = viewItem(heap, part, dict.entries()[at++]);
        return true;
    };
}

}  // namespace

std::string typeName(const Value& value) {
    switch (value.kind()) {
        case Kind::kUndefined:
            return "Undefined";
        case Kind::kNone:
            return "NoneType";
        case Kind::kBool:
            return "bool";
        case Kind::kInt:
        case Kind::kBigInt:
            return "int";
        case Kind::kFloat:
            return "float";
        case Kind::kText:
            return value.isMarkup() ? "Markup" : "str";
        case Kind::kList:
            return "list";
        case Kind::kTuple:
            return "tuple";
        case Kind::kDict:
            return "dict";
        case Kind::kDictView:
            switch (value.as<DictView>().part) {
                case DictView::Part::kKeys:
                    return "dict_keys";
                case DictView::Part::kValues:
                    return "dict_values";
                case DictView::Part::kItems:
                    return "dict_items";
            }
            return "dict_items";
        case Kind::kRange:
            return "range";
        case Kind::kIterator:
            return value.as<Iterator>().typeName;
        case Kind::kNamespace:
            return "Namespace";
        case Kind::kMacro:
            return "Macro";
        case Kind::kFunction:
            return "function";
        case Kind::kMethod:
            return "builtin_function_or_method";
        case Kind::kLoop:
            return "LoopContext";
        case Kind::kCycler:
            return "Cycler";
        case Kind::kJoiner:
            return "Joiner";
    }
    return "object";
}

std::string toText(const Value& value) {
    if (value.isText()) {
        return std::string(value.text());
    }
    if (value.isUndefined()) {
        return {};
    }
    return toRepr(value);
}

std::string toRepr(const Value& value) {
    Printer printer(false);
    printer.put(value, 0);
    return printer.take();
}

std::string asciiRepr(const Value& value) {
    Printer printer(true);
    printer.put(value, 0);
    return printer.take();
}

std::string sortedRepr(const Value& value) {
    Printer printer(false, true);
    printer.put(value, 0);
    return printer.take();
}

std::string reprText(std::string_view text) {
    std::string out;
    appendReprText(out, text, false);
    return out;
}

bool isTrue(const Value& value) {
    switch (value.kind()) {
        case Kind::kUndefined:
        case Kind::kNone:
            return false;
        case Kind::kBool:
            return value.boolean();
        case Kind::kInt:
            return value.integer() != 0;
        case Kind::kFloat:
            return value.number() != 0.0;
        default:
            return !hasLength(value) || lengthOf(value) != 0;
    }
}

void raiseIfUndefined(const Value& value) {
    if (value.isUndefined()) {
        const auto& undefined = value.as<Undefined>();
        raise(undefined.errorType, undefined.message);
    }
}

bool hasLength(const Value& value) {
    switch (value.kind()) {
        case Kind::kUndefined:
        case Kind::kText:
        case Kind::kList:
        case Kind::kTuple:
        case Kind::kDict:
        case Kind::kDictView:
        case Kind::kRange:
            return true;
        default:
            return false;
    }
}

std::int64_t lengthOf(const Value& value) {
    switch (value.kind()) {
        case Kind::kUndefined:
            return 0;
        case Kind::kText:
            return static_cast<std::int64_t>(value.textObject().length);
        case Kind::kList:
        case Kind::kTuple:
            return static_cast<std::int64_t>(value.as<Sequence>().items.size());
        case Kind::kDict:
            return static_cast<std::int64_t>(value.as<Dict>().entries().size());
        case Kind::kDictView:
            return static_cast<std::int64_t>(value.as<DictView>().dict.entries().size());
        case Kind::kRange:
            return value.as<Range>().length();
        default:
            raiseType("object of type '" + typeName(value) + "' has no len()");
    }
}

bool isIterable(const Value& value) {
    return hasLength(value) || value.is(Kind::kIterator) || value.is(Kind::kLoop);
}

Value viewItem(Heap& heap, DictView::Part part, const Dict::Entry& entry) {
    switch (part) {
        case DictView::Part::kKeys:
            return entry.first;
        case DictView::Part::kValues:
            return entry.second;
        case DictView::Part::kItems:
            break;
    }
    return heap.tuple({entry.first, entry.second});
}

Cursor iterate(Heap& heap, const Value& value) {
    switch (value.kind()) {
        case Kind::kUndefined:
            return [](Value&) { return false; };
        case Kind::kText:
            return iterateText(heap, value);
        case Kind::kList:
        case Kind::kTuple:
            return [&sequence = value.as<Sequence>(), at = std::size_t{0}](Value& out) mutable {
                if (at >= sequence.items.size()) {
                    return false;
                }
                out = sequence.items[at++];
                return true;
            };
        case Kind::kDict:
            return iterateDict(heap, value.as<Dict>(), DictView::Part::kKeys);
        case Kind::kDictView:
            return iterateDict(heap, value.as<DictView>().dict, value.as<DictView>().part);
        case Kind::kRange:
            return [range = &value.as<Range>(), left = value.as<Range>().length(),
                    next = value.as<Range>().start](Value& out) mutable {
                if (left == 0) {
                    return false;
                }
                --left;
                out = Value(next);
                next += left > 0 ? range->step : 0;
                return true;
            };
        case Kind::kIterator:
            return [&iterator = value.as<Iterator>()](Value& out) { return iterator.next(out); };
        case Kind::kLoop:
            return [&heap, value](Value& out) {
                auto& loop = value.as<Loop>();
                if (!loop.advance()) {
                    return false;
                }
                out = heap.tuple({loop.current, value});
                return true;
            };
        default:
            raiseType("'" + typeName(value) + "' object is not iterable");
    }
}

std::string escapeHtml(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '\'':
                out += "&#39;";
                break;
            case '"':
                out += "&#34;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace quern::engine::jinja
