// Calls in the tags of Kimi K3.
#include <nlohmann/json.hpp>

#include "engine/text/tool_parsers/call_body.h"

namespace quern::engine::tool_parsers {
namespace {

constexpr std::string_view kTagEnd = "<|sep|>";
constexpr std::string_view kCallClose = "<|close|>call<|sep|>";
constexpr std::string_view kArgument = "<|open|>argument ";
constexpr std::string_view kArgumentEnd = "<|close|>argument<|sep|>";
constexpr std::string_view kJson = "<|open|>json";
constexpr std::string_view kJsonEnd = "<|close|>json<|sep|>";

/// The value of name="…" in a tag, with its escapes undone; empty when it has none.
std::string attribute(std::string_view tag, std::string_view name) {
    const std::string head = std::string(name) + "=\"";
    const std::size_t at = tag.find(head);
    if (at == std::string_view::npos) {
        return {};
    }
    tag.remove_prefix(at + head.size());
    std::string value(tag.substr(0, tag.find('"')));
    constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {{"&quot;", "\""},
                                                                          {"&amp;", "&"}};
    for (const auto& [escape, meant] : kEscapes) {
        for (std::size_t found = value.find(escape); found != std::string::npos;
             found = value.find(escape, found + meant.size())) {
            value.replace(found, escape.size(), meant);
        }
    }
    return value;
}

class OpenTagBody : public CallBody {
public:
    Status feed(char c, CallSink& sink) override {
        m_text += c;
        if (!m_valueEnd.empty()) {
            if (m_text.ends_with(m_valueEnd)) {
                m_text.resize(m_text.size() - m_valueEnd.size());
                putValue(sink);
                m_text.clear();
            }
            return Status::kMore;
        }
        if (!m_text.ends_with(kTagEnd)) {
            return m_text.size() < 1024 ? Status::kMore : Status::kFailed;
        }
        const Status status = m_hasBegun ? tag(sink) : begin(sink);
        m_text.clear();
        return status;
    }

private:
    Status begin(CallSink& sink) {
        const std::string name = attribute(m_text, "tool");
        if (!isCallName(name)) {
            return Status::kFailed;
        }
        sink.beginCall(name);
        m_hasBegun = true;
        return Status::kMore;
    }

    Status tag(CallSink& sink) {
        const std::string_view found = trimmed(m_text);
        if (found == kCallClose) {
            if (!m_isWhole) {
                sink.arguments(m_count == 0 ? "{}" : "}");
            }
            return Status::kDone;
        }
        if (found.starts_with(kArgument)) {
            m_key = attribute(found, "key");
            m_isText = attribute(found, "type") == "string";
            m_valueEnd = kArgumentEnd;
            return Status::kMore;
        }
        if (found.starts_with(kJson) && m_count == 0) {
            m_isWhole = true;
            m_valueEnd = kJsonEnd;
            return Status::kMore;
        }
        return Status::kFailed;
    }

    void putValue(CallSink& sink) {
        m_valueEnd.clear();
        if (m_isWhole) {
            sink.arguments(m_text);
            return;
        }
        const bool isJson = !m_isText && nlohmann::json::accept(m_text);
        sink.arguments((m_count++ == 0 ? "{" : ", ") + quoteJson(m_key) + ": " +
                       (isJson ? m_text : quoteJson(m_text)));
    }

    std::string m_text;
    std::string m_key;
    std::string m_valueEnd;  // empty outside of values
    std::size_t m_count = 0;
    bool m_isText = false;
    bool m_isWhole = false;  // one JSON object holds all arguments
    bool m_hasBegun = false;
};

}  // namespace

std::unique_ptr<CallBody> makeOpenTagBody() {
    return std::make_unique<OpenTagBody>();
}

}  // namespace quern::engine::tool_parsers
