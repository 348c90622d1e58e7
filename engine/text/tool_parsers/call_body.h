#pragma once

#include <cstdint>
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

/// What a parameter's schema lets it be, as far as it matters for reading its text.
struct ParameterType {
    bool isText = false;  // a string, or a string and null
    bool mayBeNull = false;
    bool isList = false;
    bool isKnown = false;  // the definitions have a type for it
};

/// Parameter types that tool definitions declare.
class ParameterTypes {
public:
    explicit ParameterTypes(const std::vector<std::string>& tools);
    [[nodiscard]] ParameterType of(const std::string& tool, const std::string& parameter) const;
    /// A parameter's text as JSON: quoted where it is declared to be a string, else as it is, also
    /// where it is written as Python writes it; quoted where it is neither.
    [[nodiscard]] std::string toJson(const std::string& tool, const std::string& parameter,
                                     std::string_view text) const;

private:
    std::map<std::pair<std::string, std::string>, ParameterType> m_types;
};

/// The inside of a call block, byte by byte. A body that fails before its first beginCall leaves
/// no trace: its text is then content.
class CallBody {
public:
    enum class Status { kMore, kDone, kFailed };
    virtual ~CallBody() = default;
    virtual Status feed(char c, CallSink& sink) = 0;
};

enum class CallForm : std::uint8_t {
    kNamed,      // {"name": NAME, "arguments": {…}}
    kNameIsKey,  // {NAME: {…}}
};
/// An object of that form, or an array of such; arguments stream as they are written.
[[nodiscard]] std::unique_ptr<CallBody> makeJsonBody(CallForm form = CallForm::kNamed);
/// NAME, one of `separators`, then a JSON object. Prefixes "functions." and suffixes ":0" of the
/// name go, and all up to `nameMark`.
[[nodiscard]] std::unique_ptr<CallBody> makeNamedJsonBody(std::vector<std::string> separators,
                                                          std::string nameMark = "");
/// A JSON list of calls, or NAME[ARGS]{…}: the first byte tells.
[[nodiscard]] std::unique_ptr<CallBody> makeMistralBody();
/// function/parameter tags, with names behind "=" or in name="…"; ends with `close`.
[[nodiscard]] std::unique_ptr<CallBody> makeTagBody(const ParameterTypes& types, std::string close);
/// NAME, then arg_key and arg_value tags, up to </tool_call>; each tag's word ends in `suffix`.
[[nodiscard]] std::unique_ptr<CallBody> makeGlmBody(const ParameterTypes& types,
                                                    const std::string& suffix);
/// name(key=value, …), name(…), … with commas or line breaks between them, up to `close`.
[[nodiscard]] std::unique_ptr<CallBody> makePythonicBody(std::string close);
/// call:NAME{key:<|"|>text<|"|>,…}
[[nodiscard]] std::unique_ptr<CallBody> makeGemmaBody();
/// tool="NAME"<|sep|>, then arguments between <|open|> and <|close|>, or one JSON object.
[[nodiscard]] std::unique_ptr<CallBody> makeOpenTagBody();
/// <invoke name="NAME"> and a tag a value, nested as the values are; every tag behind the mark
/// ]<]minimax[>[.
[[nodiscard]] std::unique_ptr<CallBody> makeTreeBody(const ParameterTypes& types);

/// A Python literal as JSON: quotes become double ones, True, False and None their JSON words. What
/// is no literal comes out as no JSON.
[[nodiscard]] std::string literalToJson(std::string_view text);
/// Text as a JSON string. What is no UTF-8 is replaced.
[[nodiscard]] std::string quoteJson(std::string_view text);
[[nodiscard]] bool isCallName(std::string_view name);
/// Without the white space at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace quern::engine::tool_parsers
