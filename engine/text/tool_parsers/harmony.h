#pragma once

#include <cstdint>
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

/// Messages with a header up to <|message|> and a body up to an end mark. The channel and the
/// recipient in the header say what the body is.
class HarmonyParser {
public:
    enum class Kind : std::uint8_t {
        kChannels,  // gpt-oss: channels, calls to functions.NAME. Source: OpenAI's harmony format.
        kRecipients,  // Muse: to=self is reasoning; what goes to a tool is content with tags in it
    };
    HarmonyParser(ReplySink& sink, Kind kind) : m_sink(sink), m_kind(kind) {}
    void feed(char c);
    void end();
    [[nodiscard]] bool isReasoning() const { return m_part == Part::kReasoning; }
    [[nodiscard]] static std::span<const std::string_view> marks(Kind kind);

private:
    enum class Part { kContent, kReasoning, kArguments };
    void takeHeader();
    void put(std::string_view text);
    bool takeMark();
    [[nodiscard]] bool isEnd(std::string_view mark) const;

    ReplySink& m_sink;
    Kind m_kind;
    std::string m_held;
    std::string m_header;
    bool m_inHeader = true;
    bool m_mayBeBare = true;  // the very beginning, which may lack a header
    Part m_part = Part::kContent;
};

}  // namespace quern::engine::tool_parsers
