#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/text/tool_parsers/call_body.h"

namespace quern::engine::tool_parsers {

/// Where the parts of a reply go.
class ReplySink : public CallSink {
public:
    virtual void content(std::string_view text) = 0;
    virtual void reasoning(std::string_view text) = 0;
};

/// The messages of gpt-oss: a header up to <|message|>, a body up to <|end|>, <|return|> or
/// <|call|>. The channel and the recipient in the header say what the body is. Source: OpenAI's
/// harmony format.
class HarmonyParser {
public:
    explicit HarmonyParser(ReplySink& sink) : m_sink(sink) {}
    void feed(char c);
    void end();
    [[nodiscard]] bool isReasoning() const { return m_part == Part::kReasoning; }
    [[nodiscard]] static std::span<const std::string_view> marks();

private:
    enum class Part { kContent, kReasoning, kArguments };
    void takeHeader();
    void put(std::string_view text);
    bool takeMark();

    ReplySink& m_sink;
    std::string m_held;
    std::string m_header;
    bool m_inHeader = true;
    bool m_mayBeBare = true;  // the very beginning, which may lack a header
    Part m_part = Part::kContent;
};

}  // namespace quern::engine::tool_parsers
