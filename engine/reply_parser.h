#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quern::engine {

struct PreparedRequest;

/// How a model writes calls of tools, by the family that writes so first.
enum class CallDialect : std::uint8_t {
    kNone,       // all is text
    kHermes,     // <tool_call>{"name": …, "arguments": {…}}</tool_call>  (also Qwen, Granite 4;
                 // others have lists, or marks of their own around the JSON)
    kQwenCoder,  // <tool_call><function=NAME><parameter=KEY>VALUE</parameter>…
    kInvoke,     // <invoke name="NAME"><parameter name="KEY">VALUE</parameter>…  (MiniMax, DSML)
    kRecipient,  // assistant to=NAME<|message|>, and in it the tags of kInvoke  (Muse)
    kGlm,        // <tool_call>NAME<arg_key>K</arg_key><arg_value>V</arg_value>…
    kLlama3,    // {"name": …, "parameters": {…}} as the whole reply, also behind <|python_tag|>
    kMistral,   // [TOOL_CALLS][{…}] and [TOOL_CALLS]NAME[ARGS]{…}
    kDeepSeek,  // <｜tool▁call▁begin｜>…NAME…{…}<｜tool▁call▁end｜>
    kKimi,      // <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{…}
    kOpenTags,  // <|open|>call tool="NAME"<|sep|><|open|>argument key="KEY"…<|sep|>…  (Kimi K3)
    kSolar,     // <|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{…}
    kMiniMaxTree,  // <invoke name="NAME"><KEY>VALUE</KEY>…, each tag behind ]<]minimax[>[
    kHarmony,      // <|channel|>commentary to=functions.NAME<|message|>{…}<|call|>
    kPhi,          // <|tool_call|>[{…}]<|/tool_call|>  (also Granite 3)
    kCommandR,     // <|START_ACTION|>[{"tool_name": …, "parameters": {…}}]<|END_ACTION|>
    kFunctionary,  // <function=NAME>{…}</function>
    kArrows,       // >>>NAME\n{…}, and >>>all\n before text  (functionary 3.2)
    kFunctools,    // functools[{…}]
    kPythonic,     // [name(key=value, …), …], also between marks (LFM2, Llama 4, OLMo 3)
    kGemma,        // <|tool_call>call:NAME{key:<|"|>text<|"|>,…}<tool_call|>
};

/// How a model's replies are built. Without anything all is content.
struct ReplyFormat {
    CallDialect calls = CallDialect::kNone;
    std::string reasoningOpen = {};  // empty: no reasoning is set apart
    std::string reasoningClose = {};
    /// Marks around the answer that are no part of it: such as open it …
    std::vector<std::string> answerOpens = {};
    /// … and such as close it; those that are no control tokens only where one opened it.
    std::vector<std::string> answerCloses = {};
};

/// What a chat template's text says of the replies that follow it.
[[nodiscard]] ReplyFormat recognizeReplyFormat(std::string_view templateSource);

/// The marks that a parser of this format looks for, in replies with tools or without. Where one
/// of them is a control token, that token has to be shown to it.
[[nodiscard]] std::vector<std::string> marksOf(const ReplyFormat& format, bool hasTools);

/// A piece of a reply, as it is produced.
struct ReplyDelta {
    enum class Kind : std::uint8_t {
        kContent,
        kReasoning,
        kCallName,       // a call begins: `text` is its tool's name, whole
        kCallArguments,  // more of its arguments, a JSON text when all is there
    };
    Kind kind = Kind::kContent;
    std::size_t call = 0;  // index of the call, for the last two
    std::string text;
};

/// Separates a streamed reply into content, reasoning and calls while it is produced. What is no
/// call after all is delivered as content, marks included; nothing is lost but the marks of what
/// was understood and white space beside them. How the text is cut into pushes changes nothing
/// but how the deltas are cut.
///
/// It must be given the marks, which the events of a prepared chat show. Belongs to one thread.
class ReplyParser {
public:
    /// `promptEnd` is the end of the prompt's text: where it opens reasoning, the reply begins in
    /// it. `tools` are the definitions (JSON texts) that the chat was given: their schemas tell
    /// text from numbers in dialects that do not. Without tools no calls are looked for.
    ReplyParser(ReplyFormat format, std::string_view promptEnd,
                const std::vector<std::string>& tools);
    ~ReplyParser();
    ReplyParser(ReplyParser&&) noexcept;
    ReplyParser& operator=(ReplyParser&&) noexcept;

    [[nodiscard]] std::vector<ReplyDelta> push(std::string_view text);
    /// The reply has ended: gives what was held back.
    [[nodiscard]] std::vector<ReplyDelta> finish();
    /// What comes next is, as far as is known, reasoning.
    [[nodiscard]] bool isReasoning() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// For one choice of the reply to `prepared`: what a prompt that is no chat gets is all content.
[[nodiscard]] ReplyParser makeReplyParser(const PreparedRequest& prepared);

}  // namespace quern::engine
