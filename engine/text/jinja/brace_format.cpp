#include <optional>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/format.h"
#include "engine/text/jinja/format_spec.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {
namespace {

class BraceFormatter {
public:
    BraceFormatter(Interpreter& interpreter, const Arguments& arguments)
        : m_interpreter(interpreter), m_arguments(arguments) {}

    std::string run(std::string_view format, int depth) {
        if (depth < 0) {
            raiseValue("Max string recursion exceeded");
        }
        std::string out;
        for (std::size_t at = 0; at < format.size();) {
            const char c = format[at];
            if (c != '{' && c != '}') {
                out += c;
                ++at;
            } else if (at + 1 < format.size() && format[at + 1] == c) {
                out += c;
                at += 2;
            } else if (c == '}') {
                raiseValue("Single '}' encountered in format string");
            } else {
                at = field(format, at + 1, out, depth);
            }
        }
        return out;
    }

private:
    /// Formats the field that begins at `start`; returns the position behind its brace.
    std::size_t field(std::string_view format, std::size_t start, std::string& out, int depth) {
        m_interpreter.step();
        if (start >= format.size()) {
            raiseValue("Single '{' encountered in format string");
        }
        std::size_t end = start;
        int nesting = 1;
        for (; end < format.size(); ++end) {
            nesting += format[end] == '{' ? 1 : format[end] == '}' ? -1 : 0;
            if (nesting == 0) {
                break;
            }
        }
        if (end == format.size()) {
            raiseValue("expected '}' before end of string");
        }
        const std::string_view body = format.substr(start, end - start);
        std::size_t nameEnd = 0;
        int brackets = 0;
        while (nameEnd < body.size() &&
               (brackets > 0 || (body[nameEnd] != '!' && body[nameEnd] != ':'))) {
            brackets += body[nameEnd] == '[' ? 1 : body[nameEnd] == ']' ? -1 : 0;
            ++nameEnd;
        }
        Value value = resolve(body.substr(0, nameEnd));
        std::string_view rest = body.substr(nameEnd);
        if (!rest.empty() && rest.front() == '!') {
            value = convert(value, rest);
        }
        std::string spec;
        if (!rest.empty()) {
            spec = run(rest.substr(1), depth - 1);
        }
        raiseIfSpecOnUndefined(value, spec);
        out += formatValue(value, spec);
        m_interpreter.stepBytes(out.size() / 16);
        m_interpreter.checkSize(out.size());
        return end + 1;
    }

    static void raiseIfSpecOnUndefined(const Value& value, std::string_view spec) {
        if (value.isUndefined() && !spec.empty()) {
            raiseType("unsupported format string passed to Undefined.__format__");
        }
    }

    /// Applies !s, !r or !a and takes it off `rest`.
    Value convert(const Value& value, std::string_view& rest) {
        if (rest.size() < 2) {
            raiseValue("end of string while looking for conversion specifier");
        }
        const char type = rest[1];
        rest.remove_prefix(2);
        if (!rest.empty() && rest.front() != ':') {
            raiseValue("expected ':' after conversion specifier");
        }
        switch (type) {
            case 's':
                return m_interpreter.text(toText(value));
            case 'r':
                return m_interpreter.text(toRepr(value));
            case 'a':
                return m_interpreter.text(asciiRepr(value));
            default:
                raiseValue(std::string("Unknown conversion specifier ") + type);
        }
    }

    Value argument(std::string_view name) {
        const bool isNumber =
            !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
        if (name.empty() || isNumber) {
            if (m_isManual && *m_isManual != isNumber) {
                raiseValue(isNumber ? "cannot switch from automatic field numbering to manual "
                                      "field specification"
                                    : "cannot switch from manual field specification to "
                                      "automatic field numbering");
            }
            m_isManual = isNumber;
            const auto index =
                isNumber ? static_cast<std::size_t>(name.size() > 9 ? 1'000'000'000
                                                                    : *parseInteger(name, 10))
                         : m_next++;
            if (index >= m_arguments.positional.size()) {
                raise("IndexError", "Replacement index " + std::to_string(index) +
                                        " out of range for positional args tuple");
            }
            return m_arguments.positional[index];
        }
        for (const auto& [key, value] : m_arguments.named) {
            if (key == name) {
                return value;
            }
        }
        raise("KeyError", reprText(name));
    }

    Value resolve(std::string_view path) {
        std::size_t at = std::min(path.find_first_of(".["), path.size());
        Value value = argument(path.substr(0, at));
        while (at < path.size()) {
            if (path[at] == '.') {
                const std::size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
                if (end == at + 1) {
                    raiseValue("Empty attribute in format string");
                }
                value = m_interpreter.attribute(value, path.substr(at + 1, end - at - 1));
                at = end;
            } else if (path[at] == '[') {
                const std::size_t end = path.find(']', at);
                if (end == std::string_view::npos) {
                    raiseValue("Missing ']' in format string");
                }
                const std::string_view key = path.substr(at + 1, end - at - 1);
                if (key.empty()) {
                    raiseValue("Empty attribute in format string");
                }
                const bool isIndex = key.size() < 10 &&
                                     key.find_first_not_of("0123456789") == std::string_view::npos;
                value = m_interpreter.item(value, isIndex ? Value(*parseInteger(key, 10))
                                                          : m_interpreter.text(std::string(key)));
                at = end + 1;
            } else {
                raiseValue("Only '.' or '[' may follow ']' in format field specifier");
            }
        }
        return value;
    }

    Interpreter& m_interpreter;
    const Arguments& m_arguments;
    std::optional<bool> m_isManual;
    std::size_t m_next = 0;
};

}  // namespace

std::string formatBraces(Interpreter& interpreter, std::string_view format,
                         const Arguments& arguments) {
    return BraceFormatter(interpreter, arguments).run(format, 2);
}

}  // namespace quern::engine::jinja
