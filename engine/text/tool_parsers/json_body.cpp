#include <nlohmann/json.hpp>

#include "engine/text/tool_parsers/call_body.h"
#include "engine/text/tool_parsers/value_scanner.h"

namespace quern::engine::tool_parsers {
namespace {

using Json = nlohmann::json;

bool isCallKey(std::string_view key) {
    for (const std::string_view known : {"name", "tool_name", "tool_call_id", "id", "type", "index",
                                         "function", "arguments", "parameters"}) {
        if (key == known) {
            return true;
        }
    }
    return false;
}

std::string decodedText(const std::string& json) {
    const Json value = Json::parse(json, nullptr, false);
    return value.is_string() ? value.get<std::string>() : json;
}

class JsonBody : public CallBody {
public:
    explicit JsonBody(CallForm form) : m_form(form) {}

    Status feed(char c, CallSink& sink) override {
        switch (m_at) {
            case At::kStart:
                return start(c);
            case At::kKey:
                return key(c, sink);
            case At::kColon:
                return colon(c);
            case At::kValueStart:
                if (isJsonBlank(c)) {
                    return Status::kMore;
                }
                m_scanner = ValueScanner();
                m_value.clear();
                m_at = At::kValue;
                startValue(c, sink);
                [[fallthrough]];
            case At::kValue:
                return value(c, sink);
            case At::kAfterValue:
                return afterValue(c, sink);
            case At::kAfterObject:
                return afterObject(c);
        }
        return Status::kFailed;
    }

private:
    enum class At { kStart, kKey, kColon, kValueStart, kValue, kAfterValue, kAfterObject };

    Status start(char c) {
        if (isJsonBlank(c)) {
            return Status::kMore;
        }
        if (c == '[' && !m_isArray) {
            m_isArray = true;
            return Status::kMore;
        }
        if (c != '{') {
            return Status::kFailed;
        }
        beginObject();
        return Status::kMore;
    }

    void beginObject() {
        m_at = At::kKey;
        m_key.clear();
        m_inKey = false;
        m_name.clear();
        m_heldArguments.clear();
        m_hasBegun = false;
        m_hasArguments = false;
        m_wrappers = 0;
    }

    Status key(char c, CallSink& sink) {
        if (m_inKey) {
            if (c == '"') {
                m_inKey = false;
                m_at = At::kColon;
                if (m_form == CallForm::kNameIsKey) {
                    m_name = decodedText('"' + m_key + '"');
                    return isCallName(m_name) ? Status::kMore : Status::kFailed;
                }
                // Some other object: not held back any longer.
                return m_name.empty() && !isCallKey(m_key) ? Status::kFailed : Status::kMore;
            } else if (m_key.size() > 64) {
                return Status::kFailed;
            } else {
                m_key += c;
            }
            return Status::kMore;
        }
        if (isJsonBlank(c)) {
            return Status::kMore;
        }
        if (c == '}') {
            return endObject(sink);
        }
        if (c != '"') {
            return Status::kFailed;
        }
        m_key.clear();
        m_inKey = true;
        return Status::kMore;
    }

    Status colon(char c) {
        if (isJsonBlank(c)) {
            return Status::kMore;
        }
        m_at = At::kValueStart;
        return c == ':' ? Status::kMore : Status::kFailed;
    }

    [[nodiscard]] bool isArgumentsKey() const {
        return m_form == CallForm::kNameIsKey || m_key == "arguments" || m_key == "parameters";
    }

    void startValue(char c, CallSink& sink) {
        // {"type": "function", "function": {…}}: the inner object is the call.
        m_entersWrapper = m_form == CallForm::kNamed && m_key == "function" && c == '{';
        m_streams = isArgumentsKey() && c == '{' && !m_name.empty() && !m_hasBegun;
        if (m_streams) {
            begin(sink);
        }
    }

    void begin(CallSink& sink) {
        sink.beginCall(m_name);
        m_hasBegun = true;
    }

    Status value(char c, CallSink& sink) {
        if (m_entersWrapper) {
            m_entersWrapper = false;
            ++m_wrappers;
            m_at = At::kKey;
            m_inKey = false;
            return Status::kMore;
        }
        const bool isPart = m_scanner.take(c);
        if (isPart) {
            if (m_streams) {
                sink.arguments(std::string_view(&c, 1));
                m_hasArguments = true;
            } else if (m_value.size() < kMaxHeld) {
                m_value += c;
            } else {
                return Status::kFailed;
            }
        }
        if (!m_scanner.isDone()) {
            return Status::kMore;
        }
        m_at = At::kAfterValue;
        if (!m_streams) {
            keepValue();
        }
        m_streams = false;
        return isPart ? Status::kMore : afterValue(c, sink);
    }

    void keepValue() {
        if ((m_key == "name" || m_key == "tool_name" || m_key == "function") && m_name.empty()) {
            m_name = decodedText(m_value);
        } else if (isArgumentsKey()) {
            // Arguments before the name, or as a text that holds JSON.
            m_heldArguments = m_value.front() == '"' ? decodedText(m_value) : m_value;
        }
    }

    Status afterValue(char c, CallSink& sink) {
        if (isJsonBlank(c)) {
            return Status::kMore;
        }
        if (c == ',') {
            m_at = At::kKey;
            m_inKey = false;
            return Status::kMore;
        }
        return c == '}' ? endObject(sink) : Status::kFailed;
    }

    Status endObject(CallSink& sink) {
        if (m_wrappers > 0) {
            --m_wrappers;
            m_at = At::kAfterValue;
            return Status::kMore;
        }
        if (!m_hasBegun) {
            if (!isCallName(m_name)) {
                return Status::kFailed;
            }
            begin(sink);
        }
        if (!m_hasArguments) {
            sink.arguments(m_heldArguments.empty() || m_heldArguments == "null" ? "{}"
                                                                                : m_heldArguments);
        }
        m_at = At::kAfterObject;
        return m_isArray ? Status::kMore : Status::kDone;
    }

    Status afterObject(char c) {
        if (isJsonBlank(c)) {
            return Status::kMore;
        }
        if (c == ',') {
            m_at = At::kStart;
            return Status::kMore;
        }
        return c == ']' ? Status::kDone : Status::kFailed;
    }

    static constexpr std::size_t kMaxHeld = std::size_t{1} << 20U;

    const CallForm m_form;
    At m_at = At::kStart;
    bool m_isArray = false;
    bool m_inKey = false;
    bool m_hasBegun = false;
    bool m_hasArguments = false;
    bool m_streams = false;
    bool m_entersWrapper = false;
    int m_wrappers = 0;
    std::string m_key;
    std::string m_value;
    std::string m_name;
    std::string m_heldArguments;
    ValueScanner m_scanner;
};

}  // namespace

std::unique_ptr<CallBody> makeJsonBody(CallForm form) {
    return std::make_unique<JsonBody>(form);
}

}  // namespace quern::engine::tool_parsers
