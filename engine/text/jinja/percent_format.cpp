#include <algorithm>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/format.h"
#include "engine/text/jinja/format_spec.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/number_text.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

class PercentFormatter {
public:
    PercentFormatter(Interpreter& interpreter, const Value& format, const Value& arguments)
        : m_interpreter(interpreter),
          m_format(format.text()),
          m_isMarkup(format.isMarkup()),
          m_arguments(arguments) {}

    std::string run() {
        while (m_at < m_format.size()) {
            const std::size_t percent = m_format.find('%', m_at);
            m_out += m_format.substr(m_at, percent - m_at);
            if (percent == std::string_view::npos) {
                break;
            }
            m_at = percent + 1;
            conversion();
            m_interpreter.step();
            m_interpreter.stepBytes(m_out.size() / 16);
            m_interpreter.checkSize(m_out.size());
        }
        // A list counts as a mapping here, as it does to Python: it has __getitem__.
        const bool isMapping = m_arguments.is(Kind::kDict) || m_arguments.is(Kind::kList);
        if (!m_usedMapping && !isMapping && m_taken < argumentCount()) {
            raiseType("not all arguments converted during string formatting");
        }
        return std::move(m_out);
    }

private:
    [[nodiscard]] std::size_t argumentCount() const {
        return m_arguments.is(Kind::kTuple) ? m_arguments.as<Sequence>().items.size() : 1;
    }

    [[nodiscard]] char peek() const {
        if (m_at >= m_format.size()) {
            raiseValue("incomplete format");
        }
        return m_format[m_at];
    }

    Value nextArgument() {
        if (m_mapped) {
            return *m_mapped;
        }
        if (m_taken >= argumentCount() || (m_usedMapping && !m_arguments.is(Kind::kTuple))) {
            raiseType("not enough arguments for format string");
        }
        ++m_taken;
        return m_arguments.is(Kind::kTuple) ? m_arguments.as<Sequence>().items[m_taken - 1]
                                            : m_arguments;
    }

    std::int64_t number(const char* what) {
        if (peek() == '*') {
            ++m_at;
            const Value value = nextArgument();
            if (!isInteger(value)) {
                raiseType("* wants int");
            }
            const std::int64_t given = integerOf(value);
            if (given > 1'000'000 || given < -1'000'000) {
                raiseValue(std::string(what) + " too big");
            }
            return given;
        }
        std::int64_t value = 0;
        while (peek() >= '0' && peek() <= '9') {
            value = value * 10 + (m_format[m_at++] - '0');
            if (value > 1'000'000) {
                raiseValue(std::string(what) + " too big");
            }
        }
        return value;
    }

    void readKey() {
        if (!m_arguments.is(Kind::kDict)) {
            raiseType("format requires a mapping");
        }
        std::size_t end = m_at + 1;
        int depth = 1;
        while (end < m_format.size() && depth > 0) {
            depth += m_format[end] == '(' ? 1 : m_format[end] == ')' ? -1 : 0;
            ++end;
        }
        if (depth > 0) {
            raiseValue("incomplete format key");
        }
        const std::string_view key = m_format.substr(m_at + 1, end - m_at - 2);
        const Value* value = m_arguments.as<Dict>().find(key);
        if (value == nullptr) {
            raise("KeyError", reprText(key));
        }
        m_mapped = *value;
        m_usedMapping = true;
        m_at = end;
    }

    void conversion() {
        m_mapped.reset();
        if (peek() == '(') {
            readKey();
        }
        FormatSpec spec;
        bool isLeft = false;
        bool isZero = false;
        for (; std::string_view("-+ #0").find(peek()) != std::string_view::npos; ++m_at) {
            const char flag = m_format[m_at];
            isLeft = isLeft || flag == '-';
            isZero = isZero || flag == '0';
            spec.alternate = spec.alternate || flag == '#';
            if (flag == '+' || (flag == ' ' && spec.sign != '+')) {
                spec.sign = flag;
            }
        }
        spec.width = number("width");
        if (spec.width < 0) {
            isLeft = true;
            spec.width = -spec.width;
        }
        if (peek() == '.') {
            ++m_at;
            spec.precision =
                static_cast<int>(std::clamp<std::int64_t>(number("precision"), 0, 1000));
        }
        while (peek() == 'h' || peek() == 'l' || peek() == 'L') {
            ++m_at;
        }
        spec.align = isLeft ? '<' : isZero ? '=' : '>';
        spec.fill = isZero && !isLeft ? U'0' : U' ';
        convert(m_format[m_at++], spec);
    }

    void convert(char type, FormatSpec spec) {
        switch (type) {
            case '%':
                m_out += '%';
                break;
            case 's':
                putText(toText(nextArgument()), spec);
                break;
            case 'r':
                putText(toRepr(nextArgument()), spec);
                break;
            case 'a':
                putText(asciiRepr(nextArgument()), spec);
                break;
            case 'c':
                putCharacter(spec);
                break;
            case 'd':
            case 'i':
            case 'u':
            case 'x':
            case 'X':
            case 'o':
                putInteger(type, spec);
                break;
            case 'e':
            case 'E':
            case 'f':
            case 'F':
            case 'g':
            case 'G':
                putFloat(type, spec);
                break;
            default: {
                std::size_t at = m_at - 1;
                const std::size_t start = at;
                const char32_t c = nextCodePoint(m_format, at);
                FormatSpec hex;
                hex.type = 'x';
                raiseValue("unsupported format character '" +
                           std::string(m_format.substr(start, at - start)) + "' (0x" +
                           formatInteger(static_cast<std::int64_t>(c), hex) + ") at index " +
                           std::to_string(countCodePoints(m_format.substr(0, start))));
            }
        }
    }

    void putText(std::string text, FormatSpec spec) {
        spec.sign = '-';
        spec.alternate = false;
        spec.fill = U' ';
        spec.align = spec.align == '<' ? '<' : '>';
        m_out += formatText(m_isMarkup ? escapeHtml(text) : text, spec);
    }

    void putCharacter(const FormatSpec& spec) {
        const Value value = nextArgument();
        raiseIfUndefined(value);
        if (value.isText()) {
            if (value.textObject().length != 1) {
                raiseType("%c requires int or char");
            }
            putText(std::string(value.text()), spec);
        } else if (isInteger(value)) {
            FormatSpec character;
            character.type = 'c';
            putText(formatInteger(integerOf(value), character), spec);
        } else {
            raiseType("%c requires int or char");
        }
    }

    void putInteger(char type, FormatSpec spec) {
        const Value value = nextArgument();
        raiseIfUndefined(value);
        const bool isDecimal = type == 'd' || type == 'i' || type == 'u';
        if (value.is(Kind::kBigInt) && isDecimal) {
            putText(value.as<BigInt>().digits, spec);
            return;
        }
        if (!isInteger(value) && !(isDecimal && value.is(Kind::kFloat))) {
            raiseType(std::string("%") + type +
                      " format: " + (isDecimal ? "a real number" : "an integer") +
                      " is required, not " + typeName(value));
        }
        spec.minDigits = spec.precision.value_or(0);
        spec.precision.reset();
        spec.type = isDecimal ? 'd' : type;
        m_out +=
            formatInteger(isInteger(value) ? integerOf(value) : truncate(value.number()), spec);
    }

    void putFloat(char type, FormatSpec spec) {
        const Value value = nextArgument();
        raiseIfUndefined(value);
        if (!isNumber(value)) {
            raiseType("must be real number, not " + typeName(value));
        }
        spec.type = type;
        m_out += formatFloat(doubleOf(value), spec);
    }

    Interpreter& m_interpreter;
    std::string_view m_format;
    bool m_isMarkup;
    const Value& m_arguments;
    std::size_t m_at = 0;
    std::size_t m_taken = 0;
    bool m_usedMapping = false;
    std::optional<Value> m_mapped;
    std::string m_out;
};

}  // namespace

std::string formatPercent(Interpreter& interpreter, const Value& format, const Value& arguments) {
    return PercentFormatter(interpreter, format, arguments).run();
}

}  // namespace quern::engine::jinja
