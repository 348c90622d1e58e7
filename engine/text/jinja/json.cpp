#include "engine/text/jinja/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/text/jinja/compare.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

constexpr std::size_t kMostJsonNesting = 200;
constexpr std::size_t kMaxBytes = std::size_t{32} << 20U;

/// Builds values from the events of the JSON parser, without a document in between.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit Builder(Heap& heap) : m_heap(heap) {}

    bool null() override { return put(Value()); }
    bool boolean(bool value) override { return put(Value(value)); }
    bool number_integer(number_integer_t value) override {
        return put(Value(static_cast<std::int64_t>(value)));
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<std::uint64_t>(INT64_MAX)) {
            return put(bigInt(std::to_string(value)));
        }
        return put(Value(static_cast<std::int64_t>(value)));
    }
    bool number_float(number_float_t value, const string_t& text) override {
        const bool isWhole = text.find_first_of(".eE") == std::string::npos;
        return put(isWhole ? bigInt(text) : Value(value));
    }
    bool string(string_t& value) override { return put(m_heap.text(std::move(value))); }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(std::size_t /*size*/) override { return open(Value(&m_heap.make<Dict>())); }
    bool key(string_t& name) override {
        m_keys.back() = m_heap.text(std::move(name));
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*size*/) override { return open(m_heap.list({})); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& error) override {
        std::string reason = error.what();
        // The library's own prefix names its exception class.
        const std::size_t end = reason.find("] ");
        reason = end == std::string::npos ? reason : reason.substr(end + 2);
        raise("JSONDecodeError", "byte " + std::to_string(position) + ": " + reason);
    }

    [[nodiscard]] Value result() const { return m_result; }

private:
    Value bigInt(std::string digits) { return Value(&m_heap.make<BigInt>(std::move(digits))); }

    bool put(Value value) {
        if (m_open.empty()) {
            m_result = std::move(value);
            return true;
        }
        const Value& holder = m_open.back();
        if (holder.is(Kind::kDict)) {
            m_heap.take(sizeof(Dict::Entry));
            holder.as<Dict>().set(m_keys.back(), std::move(value));
        } else {
            m_heap.take(sizeof(Value));
            holder.as<Sequence>().items.push_back(std::move(value));
        }
        return true;
    }

    bool open(const Value& container) {
        if (m_open.size() >= kMostJsonNesting) {
            raise("RecursionError", "JSON is nested more than 200 levels deep");
        }
        put(container);
        m_open.push_back(container);
        m_keys.emplace_back();
        return true;
    }

    bool close() {
        m_open.pop_back();
        m_keys.pop_back();
        return true;
    }

    Heap& m_heap;
    Value m_result;
    std::vector<Value> m_open;
    std::vector<Value> m_keys;  // beside m_open: the key that waits for its value
};

class Writer {
public:
    explicit Writer(const JsonStyle& style) : m_style(style) {}

    void put(const Value& value, std::size_t depth) {
        if (depth > kMostJsonNesting) {
            raise("RecursionError",
                  "maximum recursion depth exceeded while encoding a JSON object");
        }
        if (m_out.size() > kMaxBytes) {
            raise("MemoryError", "a value's JSON is longer than 32 MiB");
        }
        switch (value.kind()) {
            case Kind::kNone:
                m_out += "null";
                break;
            case Kind::kBool:
                m_out += value.boolean() ? "true" : "false";
                break;
            case Kind::kInt:
            case Kind::kBigInt:
                m_out += toText(value);
                break;
            case Kind::kFloat:
                m_out += number(value.number());
                break;
            case Kind::kText:
                putText(value.text());
                break;
            case Kind::kList:
            case Kind::kTuple:
                putList(value.as<Sequence>().items, depth);
                break;
            case Kind::kDict:
                putDict(value.as<Dict>(), depth);
                break;
            default:
                raiseType("Object of type " + typeName(value) + " is not JSON serializable");
        }
    }

    std::string take() { return std::move(m_out); }

private:
    static std::string number(double value) {
        if (std::isnan(value)) {
            return "NaN";
        }
        if (std::isinf(value)) {
            return value < 0 ? "-Infinity" : "Infinity";
        }
        return floatRepr(value);
    }

    void putUnicodeEscape(char32_t c) {
        std::array<char, 16> buffer{};
        const auto put = [&](unsigned unit) {
            std::snprintf(buffer.data(), buffer.size(), "\\u%04x", unit);
            m_out += buffer.data();
        };
        const auto code = static_cast<unsigned>(c);
        if (code >= 0x10000) {
            put(0xD800U + ((code - 0x10000U) >> 10U));
            put(0xDC00U + ((code - 0x10000U) & 0x3FFU));
        } else {
            put(code);
        }
    }

    void putText(std::string_view text) {
        m_out += '"';
        for (std::size_t pos = 0; pos < text.size();) {
            const std::size_t start = pos;
            const char32_t c = nextCodePoint(text, pos);
            switch (c) {
                case U'"':
                    m_out += "\\\"";
                    break;
                case U'\\':
                    m_out += "\\\\";
                    break;
                case U'\n':
                    m_out += "\\n";
                    break;
                case U'\r':
                    m_out += "\\r";
                    break;
                case U'\t':
                    m_out += "\\t";
                    break;
                case U'\f':
                    m_out += "\\f";
                    break;
                case U'\b':
                    m_out += "\\b";
                    break;
                default:
                    if (c < 0x20 || (m_style.ensureAscii && c >= 0x7F)) {
                        putUnicodeEscape(c);
                    } else {
                        m_out += text.substr(start, pos - start);
                    }
            }
        }
        m_out += '"';
    }

    void newline(std::size_t depth) {
        if (m_style.indent) {
            m_out += '\n';
            for (std::size_t i = 0; i < depth; ++i) {
                m_out += *m_style.indent;
            }
        }
    }

    void putList(const std::vector<Value>& items, std::size_t depth) {
        if (items.empty()) {
            m_out += "[]";
            return;
        }
        m_out += '[';
        for (std::size_t i = 0; i < items.size(); ++i) {
            m_out += i == 0 ? "" : m_style.itemSeparator;
            newline(depth + 1);
            put(items[i], depth + 1);
        }
        newline(depth);
        m_out += ']';
    }

    std::string keyText(const Value& key) {
        switch (key.kind()) {
            case Kind::kText:
                return std::string(key.text());
            case Kind::kBool:
                return key.boolean() ? "true" : "false";
            case Kind::kNone:
                return "null";
            case Kind::kInt:
            case Kind::kBigInt:
                return toText(key);
            case Kind::kFloat:
                return number(key.number());
            default:
                raiseType("keys must be str, int, float, bool or None, not " + typeName(key));
        }
    }

    void putDict(const Dict& dict, std::size_t depth) {
        if (dict.entries().empty()) {
            m_out += "{}";
            return;
        }
        std::vector<const Dict::Entry*> entries;
        for (const auto& entry : dict.entries()) {
            entries.push_back(&entry);
        }
        if (m_style.sortKeys) {
            std::stable_sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) {
                return isLess(a->first, b->first);
            });
        }
        m_out += '{';
        for (std::size_t i = 0; i < entries.size(); ++i) {
            m_out += i == 0 ? "" : m_style.itemSeparator;
            newline(depth + 1);
            putText(keyText(entries[i]->first));
            m_out += m_style.keySeparator;
            put(entries[i]->second, depth + 1);
        }
        newline(depth);
        m_out += '}';
    }

    const JsonStyle& m_style;
    std::string m_out;
};

}  // namespace

Value parseJson(Heap& heap, std::string_view text) {
    Builder builder(heap);
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
        raise("JSONDecodeError", "not a JSON text");
    }
    return builder.result();
}

std::string dumpJson(const Value& value, const JsonStyle& style) {
    Writer writer(style);
    writer.put(value, 0);
    return writer.take();
}

}  // namespace quern::engine::jinja
