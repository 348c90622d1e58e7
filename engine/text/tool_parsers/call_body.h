#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quern::engine::tool_parsers {

/// Where parsed calls go.
class CallSink {
public:
    virtual ~CallSink() = default;
    virtual void beginCall(std::string_view name) = 0;
    virtual void arguments(std::string_view json) = 0;
};

/// Parameter types that tool definitions declare: (tool, parameter) → "string", "integer", …
class ParameterTypes {
public:
    explicit ParameterTypes(const std::vector<std::string>& tools);
    /// A parameter's text as JSON: as it is where the declared type (or, without one, the text
    /// itself) is no string, else quoted.
    [[nodiscard]] std::string toJson(const std::string& tool, const std::string& parameter,
                                     std::string_view text) const;

private:
    std::map<std::pair<std::string, std::string>, std::string> m_types;
};

/// The inside of a call block, byte by byte. A body that fails before its first beginCall leaves
/// no trace: its text is then content.
class CallBody {
public:
    enum class Status { kMore, kDone, kFailed };
    virtual ~CallBody() = default;
    virtual Status feed(char c, CallSink& sink) = 0;
};

/// {"name": …, "arguments": {…}}, or an array of such; arguments stream as they are written.
[[nodiscard]] std::unique_ptr<CallBody> makeJsonBody();
/// NAME, one of `separators`, then a JSON object. Prefixes "functions." and suffixes ":0" of the
/// name go.
[[nodiscard]] std::unique_ptr<CallBody> makeNamedJsonBody(std::vector<std::string> separators);
/// A JSON list of calls, or NAME[ARGS]{…}: the first byte tells.
[[nodiscard]] std::unique_ptr<CallBody> makeMistralBody();
/// function/parameter tags, with names behind "=" or in name="…"; ends with `close`.
[[nodiscard]] std::unique_ptr<CallBody> makeTagBody(const ParameterTypes& types, std::string close);
/// NAME, then arg_key and arg_value tags, up to </tool_call>.
[[nodiscard]] std::unique_ptr<CallBody> makeGlmBody(const ParameterTypes& types);
/// [name(key=value, …), …], from behind the opening bracket.
[[nodiscard]] std::unique_ptr<CallBody> makePythonicBody();
/// call:NAME{key:<|"|>text<|"|>,…}
[[nodiscard]] std::unique_ptr<CallBody> makeGemmaBody();

/// Text as a JSON string. What is no UTF-8 is replaced.
[[nodiscard]] std::string quoteJson(std::string_view text);
[[nodiscard]] bool isCallName(std::string_view name);
/// Without the white space at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace quern::engine::tool_parsers
