#include <array>

#include "engine/reply_parser.h"
#include "engine/request.h"
#include "engine/text/tool_parsers/call_grammar.h"
#include "engine/text/tool_parsers/harmony.h"

namespace quern::engine {
namespace {

struct Sign {
    std::string_view mark;
    CallDialect dialect;
};

// In this order: the first mark that a template speaks of decides.
constexpr std::array<Sign, 36> kSigns = {{
    {"atem:invoke", CallDialect::kRecipient},
    {"<|channel|>", CallDialect::kHarmony},
    {"]<]minimax[>[", CallDialect::kMiniMaxTree},
    {"<|tool_call:begin|>", CallDialect::kSolar},
    {"<|open|>", CallDialect::kOpenTags},
    {"<|tool_call>", CallDialect::kGemma},
    {"<arg_key", CallDialect::kGlm},
    {"<minimax:tool_call>", CallDialect::kInvoke},
    {"DSML", CallDialect::kInvoke},
    {"<｜tool▁call▁begin｜>", CallDialect::kDeepSeek},
    {"<|tool_call_begin|>", CallDialect::kKimi},
    {"<|tool_call_start|>", CallDialect::kPythonic},
    {"<|tool_list_start|>", CallDialect::kPythonic},
    {"<|python_start|>", CallDialect::kPythonic},
    {"<function_calls>", CallDialect::kPythonic},
    {"[TOOL_CALLS]", CallDialect::kMistral},
    {"<|START_ACTION|>", CallDialect::kCommandR},
    {"Action: ```json", CallDialect::kCommandR},
    {"Action:", CallDialect::kCommandR},
    {"functools[", CallDialect::kFunctools},
    {">>>all", CallDialect::kArrows},
    {"<seed:tool_call>", CallDialect::kQwenCoder},
    {"<parameter=", CallDialect::kQwenCoder},
    {"<param name=", CallDialect::kQwenCoder},
    {"<function=", CallDialect::kFunctionary},
    {"<|tool_call|>", CallDialect::kPhi},
    {"<tool_call>", CallDialect::kHermes},
    {"<tool_calls>", CallDialect::kHermes},
    {"<TOOLCALL>", CallDialect::kHermes},
    {"'role': 'function call'", CallDialect::kHermes},
    {"<|function_call|>", CallDialect::kHermes},
    {"<|action_start|>", CallDialect::kHermes},
    {"<|tools_prefix|>", CallDialect::kHermes},
    {"<|python_tag|>", CallDialect::kLlama3},
    {"\"parameters\": dictionary", CallDialect::kLlama3},
    {"{\"name\": function name", CallDialect::kLlama3},
}};

struct Reasoning {
    std::string_view sign;  // what a template that has it speaks of
    std::string_view open;
    std::string_view close;
};

constexpr std::array<Reasoning, 15> kReasoning = {{
    {"<|channel>thought", "<|channel>thought", "<channel|>"},
    {"<|think|>\" + message", "<|think|>", "<|end|>"},
    {"open_tag('think", "<|open|>think<|sep|>", "<|close|>think<|sep|>"},
    {"[BEGIN FINAL RESPONSE]", "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"},
    {"<think{}>", "<think:opensource>", "</think:opensource>"},
    {"<mm:think>", "<mm:think>", "</mm:think>"},
    {"<seed:think>", "<seed:think>", "</seed:think>"},
    {"<thought>", "<thought>", "</thought>"},
    {"<think>", "<think>", "</think>"},
    {"</think>", "<think>", "</think>"},
    {"[THINK]", "[THINK]", "[/THINK]"},
    {"[/THINK]", "[THINK]", "[/THINK]"},
    {"<|START_THINKING|>", "<|START_THINKING|>", "<|END_THINKING|>"},
    {"<|END_THINKING|>", "<|START_THINKING|>", "<|END_THINKING|>"},
    {"<|inner_prefix|>", "<|inner_prefix|>", "<|inner_suffix|>"},
}};

/// Marks around an answer, by what a template that has them speaks of.
struct Answer {
    std::string_view sign;
    std::array<std::string_view, 3> opens;  // empty ones do not count
    std::array<std::string_view, 3> closes;
};

constexpr std::array<Answer, 6> kAnswers = {{
    {"<response></response>", {"<response>", "", ""}, {"</response>", "", ""}},
    {"<|tool_call:begin|>",
     {"<|begin|>assistant", "<|content|>", "<|tool_calls|>"},
     {"<|end|>", "<|calls|>", ""}},
    {"open_tag('response",
     {"<|open|>response<|sep|>", "", ""},
     {"<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"}},
    {">>>all", {">>>all\n", "", ""}, {"", "", ""}},
    {"<|START_TEXT|>", {"<|START_TEXT|>", "", ""}, {"<|END_TEXT|>", "", ""}},
    {"<|START_RESPONSE|>", {"<|START_RESPONSE|>", "", ""}, {"<|END_RESPONSE|>", "", ""}},
}};

void keep(const std::array<std::string_view, 3>& marks, std::vector<std::string>& out) {
    for (const std::string_view mark : marks) {
        if (!mark.empty()) {
            out.emplace_back(mark);
        }
    }
}

}  // namespace

ReplyFormat recognizeReplyFormat(std::string_view templateSource) {
    ReplyFormat format;
    for (const Sign& sign : kSigns) {
        if (templateSource.find(sign.mark) != std::string_view::npos) {
            format.calls = sign.dialect;
            break;
        }
    }
    for (const Reasoning& reasoning : kReasoning) {
        if (templateSource.find(reasoning.sign) != std::string_view::npos) {
            format.reasoningOpen = reasoning.open;
            format.reasoningClose = reasoning.close;
            break;
        }
    }
    for (const Answer& answer : kAnswers) {
        if (templateSource.find(answer.sign) != std::string_view::npos) {
            keep(answer.opens, format.answerOpens);
            keep(answer.closes, format.answerCloses);
        }
    }
    return format;
}

std::vector<std::string> marksOf(const ReplyFormat& format, bool hasTools) {
    std::vector<std::string> marks;
    const auto add = [&marks](const std::string& mark) {
        marks.push_back(mark);
        // A mark of several tokens: those among them that are in bars.
        for (std::size_t at = mark.find("<|"); at != std::string::npos;
             at = mark.find("<|", at + 1)) {
            const std::size_t end = mark.find('>', at);
            if (end != std::string::npos && end + 1 - at < mark.size()) {
                marks.push_back(mark.substr(at, end + 1 - at));
            }
        }
    };
    const auto addAll = [&add](const auto& all) {
        for (const auto& mark : all) {
            add(std::string(mark));
        }
    };
    if (!format.reasoningOpen.empty()) {
        add(format.reasoningOpen);
        add(format.reasoningClose);
    }
    using Kind = tool_parsers::HarmonyParser::Kind;
    if (format.calls == CallDialect::kHarmony) {
        addAll(tool_parsers::HarmonyParser::marks(Kind::kChannels));
    } else if (format.calls == CallDialect::kRecipient) {
        addAll(tool_parsers::HarmonyParser::marks(Kind::kRecipients));
    }
    addAll(format.answerOpens);
    addAll(format.answerCloses);
    if (!hasTools) {
        return marks;
    }
    const tool_parsers::ParameterTypes types(std::vector<std::string>{});
    const tool_parsers::CallGrammar grammar = tool_parsers::grammarOf(format.calls, types);
    for (const tool_parsers::CallOpening& opening : grammar.openings) {
        add(opening.mark);
    }
    addAll(grammar.fillers);
    addAll(grammar.leads);
    addAll(grammar.inside);
    return marks;
}

ReplyParser makeReplyParser(const PreparedRequest& prepared) {
    const auto* chat = std::get_if<ChatPrompt>(&prepared.request.prompt);
    return chat == nullptr ? ReplyParser({}, {}, {})
                           : ReplyParser(prepared.replyFormat, prepared.promptText, chat->tools);
}

}  // namespace quern::engine
