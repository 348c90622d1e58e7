// Calls written as function calls of a programming language.
#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/text/tool_parsers/call_body.h"

namespace quern::engine::tool_parsers {
namespace {

/// A value as JSON, whatever it is. Some templates put a text between quotes and escape nothing.
std::string valueToJson(std::string_view text) {
    std::string literal = literalToJson(text);
    if (nlohmann::json::accept(literal)) {
        return literal;
    }
    const bool isQuoted = text.size() >= 2 && text.front() == text.back() &&
                          (text.front() == '\'' || text.front() == '"');
    return quoteJson(isQuoted ? text.substr(1, text.size() - 2) : text);
}

class PythonicBody : public CallBody {
public:
    explicit PythonicBody(std::string close) : m_close(std::move(close)) {}

    Status feed(char c, CallSink& sink) override {
        switch (m_at) {
            case At::kName:
                return name(c, sink);
            case At::kKey:
                return key(c, sink);
            case At::kValue:
                return value(c, sink);
            case At::kAfterCall:
                if (c == ',' || c == '\n') {
                    m_text.clear();
                    m_at = At::kName;
                    return Status::kMore;
                }
                if (std::isspace(static_cast<unsigned char>(c)) != 0) {
                    return Status::kMore;
                }
                if (!m_close.starts_with(c)) {
                    return Status::kFailed;
                }
                m_at = At::kName;
                return name(c, sink);
        }
        return Status::kFailed;
    }

private:
    enum class At { kName, kKey, kValue, kAfterCall };

    Status name(char c, CallSink& sink) {
        if (c == '(') {
            const std::string_view called = trimmed(m_text);
            if (!isCallName(called) || std::isdigit(static_cast<unsigned char>(called[0])) != 0) {
                return Status::kFailed;
            }
            sink.beginCall(called);
            m_hasCalls = true;
            m_count = 0;
            m_text.clear();
            m_at = At::kKey;
            return Status::kMore;
        }
        m_text += c;
        const std::string_view soFar = trimmed(m_text);
        if (m_hasCalls && m_close.starts_with(soFar)) {
            return soFar == m_close ? Status::kDone : Status::kMore;
        }
        return soFar.empty() || isCallName(soFar) ? Status::kMore : Status::kFailed;
    }

    Status key(char c, CallSink& sink) {
        if (c == ')') {
            return endCall(sink);
        }
        if (c == '=') {
            m_key = std::string(trimmed(m_text));
            m_text.clear();
            m_depth = 0;
            m_quote = '\0';
            m_at = At::kValue;
            return isCallName(m_key) ? Status::kMore : Status::kFailed;
        }
        m_text += c;
        return m_text.size() < 200 ? Status::kMore : Status::kFailed;
    }

    Status value(char c, CallSink& sink) {
        if (m_quote != '\0') {
            m_text += c;
            if (m_isEscaped) {
                m_isEscaped = false;
            } else if (c == '\\') {
                m_isEscaped = true;
            } else if (c == m_quote) {
                m_quote = '\0';
            }
            return Status::kMore;
        }
        if (m_depth == 0 && (c == ',' || c == ')')) {
            sink.arguments((m_count++ == 0 ? "{" : ", ") + quoteJson(m_key) + ": " +
                           valueToJson(trimmed(m_text)));
            m_text.clear();
            m_at = At::kKey;
            return c == ')' ? endCall(sink) : Status::kMore;
        }
        if (c == '\'' || c == '"') {
            m_quote = c;
        } else if (c == '(' || c == '[' || c == '{') {
            ++m_depth;
        } else if (c == ')' || c == ']' || c == '}') {
            --m_depth;
        }
        m_text += c;
        return m_depth < 0 ? Status::kFailed : Status::kMore;
    }

    Status endCall(CallSink& sink) {
        sink.arguments(m_count == 0 ? "{}" : "}");
        m_text.clear();
        m_at = At::kAfterCall;
        return Status::kMore;
    }

    std::string m_close;
    At m_at = At::kName;
    std::string m_text;
    std::string m_key;
    std::size_t m_count = 0;
    bool m_hasCalls = false;
    int m_depth = 0;
    char m_quote = '\0';
    bool m_isEscaped = false;
};

/// Gemma 4 writes call:NAME{key:<|"|>text<|"|>,other:5}, values nested in the same way.
class GemmaBody : public CallBody {
public:
    Status feed(char c, CallSink& sink) override {
        m_text += c;
        if (!m_hasBegun) {
            if (c != '{') {
                return m_text.size() < 200 ? Status::kMore : Status::kFailed;
            }
            std::string_view head(m_text.data(), m_text.size() - 1);
            head = trimmed(head);
            if (!head.starts_with("call:") || !isCallName(head.substr(5))) {
                return Status::kFailed;
            }
            sink.beginCall(head.substr(5));
            m_hasBegun = true;
            m_text.clear();
            put(sink, "{");
            m_levels = "{";
            m_expectsKey = true;
            return Status::kMore;
        }
        return inside(c, sink);
    }

private:
    static constexpr std::string_view kQuote = "<|\"|>";

    static void put(CallSink& sink, std::string_view json) { sink.arguments(json); }

    Status inside(char c, CallSink& sink) {
        if (m_inText) {
            if (m_text.ends_with(kQuote)) {
                m_text.resize(m_text.size() - kQuote.size());
                put(sink, quoteJson(m_text));
                m_text.clear();
                m_inText = false;
            }
            return Status::kMore;
        }
        if (m_text == kQuote) {
            m_inText = true;
            m_text.clear();
            return Status::kMore;
        }
        if (kQuote.starts_with(m_text)) {
            return Status::kMore;
        }
        if (m_expectsKey && c == ':') {
            m_text.pop_back();
            put(sink, quoteJson(trimmed(m_text)) + ": ");
            m_text.clear();
            m_expectsKey = false;
            return Status::kMore;
        }
        if (c == '{' || c == '[') {
            m_levels += c;
            m_expectsKey = c == '{';
            put(sink, std::string_view(&c, 1));
            m_text.clear();
        } else if (c == '}' || c == ']' || c == ',') {
            m_text.pop_back();
            const std::string_view word = trimmed(m_text);
            if (!word.empty()) {
                put(sink, literalToJson(word));
            }
            m_text.clear();
            put(sink, c == ',' ? ", " : std::string_view(&c, 1));
            if (c != ',') {
                m_levels.pop_back();
                if (m_levels.empty()) {
                    return Status::kDone;
                }
            }
            m_expectsKey = m_levels.back() == '{' && c == ',';
        }
        return Status::kMore;
    }

    std::string m_text;
    std::string m_levels;
    bool m_hasBegun = false;
    bool m_inText = false;
    bool m_expectsKey = false;
};

}  // namespace

std::unique_ptr<CallBody> makePythonicBody(std::string close) {
    return std::make_unique<PythonicBody>(std::move(close));
}

std::unique_ptr<CallBody> makeGemmaBody() {
    return std::make_unique<GemmaBody>();
}

}  // namespace quern::engine::tool_parsers
