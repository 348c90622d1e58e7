#include "engine/text/tool_parsers/call_body.h"
#include "engine/text/tool_parsers/value_scanner.h"

namespace quern::engine::tool_parsers {
namespace {

class NamedJsonBody : public CallBody {
public:
    NamedJsonBody(std::vector<std::string> separators, std::string nameMark)
        : m_separators(std::move(separators)), m_nameMark(std::move(nameMark)) {}

    Status feed(char c, CallSink& sink) override {
        if (!m_hasName) {
            return name(c, sink);
        }
        if (!m_hasBegun) {
            m_gap += c;
            if (c != '{') {
                // What may stand between: white space, a fence, the word json.
                return m_gap.size() < 40 ? Status::kMore : Status::kFailed;
            }
            sink.beginCall(m_name);
            m_hasBegun = true;
        }
        if (m_scanner.take(c)) {
            sink.arguments(std::string_view(&c, 1));
        }
        return m_scanner.isDone() ? Status::kDone : Status::kMore;
    }

private:
    Status name(char c, CallSink& sink) {
        m_head += c;
        for (const std::string& separator : m_separators) {
            if (m_head.size() > separator.size() && m_head.ends_with(separator)) {
                std::string found = m_head.substr(0, m_head.size() - separator.size());
                if (const std::size_t mark = found.rfind(m_nameMark);
                    !m_nameMark.empty() && mark != std::string::npos) {
                    found.erase(0, mark + m_nameMark.size());
                }
                found.erase(0, found.find_first_not_of(" \n\r\t"));
                if (found.starts_with("functions.")) {
                    found.erase(0, 10);
                }
                const std::size_t colon = found.rfind(':');
                if (colon != std::string::npos &&
                    found.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
                    found.erase(colon);
                }
                m_name = found;
                m_hasName = true;
                if (!isCallName(m_name)) {
                    return Status::kFailed;
                }
                // The brace is the first byte of the object itself.
                return separator == "{" ? feed(c, sink) : Status::kMore;
            }
        }
        return m_head.size() < 256 ? Status::kMore : Status::kFailed;
    }

    std::vector<std::string> m_separators;
    std::string m_nameMark;
    std::string m_head;
    std::string m_gap;
    std::string m_name;
    bool m_hasName = false;
    bool m_hasBegun = false;
    ValueScanner m_scanner;
};

class MistralBody : public CallBody {
public:
    Status feed(char c, CallSink& sink) override {
        if (m_body == nullptr) {
            if (isJsonBlank(c)) {
                return Status::kMore;
            }
            m_body = c == '[' || c == '{' ? makeJsonBody()
                                          : makeNamedJsonBody({"[CALL_ID]", "[ARGS]", "{"});
        }
        return m_body->feed(c, sink);
    }

private:
    std::unique_ptr<CallBody> m_body;
};

}  // namespace

std::unique_ptr<CallBody> makeMistralBody() {
    return std::make_unique<MistralBody>();
}

std::unique_ptr<CallBody> makeNamedJsonBody(std::vector<std::string> separators,
                                            std::string nameMark) {
    return std::make_unique<NamedJsonBody>(std::move(separators), std::move(nameMark));
}

}  // namespace quern::engine::tool_parsers
