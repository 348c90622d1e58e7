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
constexpr std::array<Sign, 23> kSigns = {{
    {"<|channel|>", CallDialect::kHarmony},
    {"<|tool_call>", CallDialect::kGemma},
    {"<arg_key>", CallDialect::kGlm},
    {"<minimax:tool_call>", CallDialect::kInvoke},
    {"DSML", CallDialect::kInvoke},
    {"<｜tool▁call▁begin｜>", CallDialect::kDeepSeek},
    {"<|tool_call_begin|>", CallDialect::kKimi},
    {"<|tool_call_start|>", CallDialect::kPythonic},
    {"<|tool_list_start|>", CallDialect::kPythonic},
    {"<|python_start|>", CallDialect::kPythonic},
    {"[TOOL_CALLS]", CallDialect::kMistral},
    {"<|START_ACTION|>", CallDialect::kCommandR},
    {"Action: ```json", CallDialect::kCommandR},
    {"Action:", CallDialect::kCommandR},
    {"functools[", CallDialect::kFunctools},
    {"<seed:tool_call>", CallDialect::kQwenCoder},
    {"<parameter=", CallDialect::kQwenCoder},
    {"<function=", CallDialect::kFunctionary},
    {"<|tool_call|>", CallDialect::kPhi},
    {"<tool_call>", CallDialect::kHermes},
    {"<|python_tag|>", CallDialect::kLlama3},
    {"\"parameters\": dictionary", CallDialect::kLlama3},
    {"{\"name\": function name", CallDialect::kLlama3},
}};

struct Reasoning {
    std::string_view open;
    std::string_view close;
};

constexpr std::array<Reasoning, 5> kReasoning = {{
    {"<seed:think>", "</seed:think>"},
    {"<think>", "</think>"},
    {"[THINK]", "[/THINK]"},
    {"<|START_THINKING|>", "<|END_THINKING|>"},
    {"<|inner_prefix|>", "<|inner_suffix|>"},
}};

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
        if (templateSource.find(reasoning.open) != std::string_view::npos ||
            templateSource.find(reasoning.close) != std::string_view::npos) {
            format.reasoningOpen = reasoning.open;
            format.reasoningClose = reasoning.close;
            break;
        }
    }
    return format;
}

std::vector<std::string> marksOf(const ReplyFormat& format, bool hasTools) {
    std::vector<std::string> marks;
    if (!format.reasoningOpen.empty()) {
        marks = {format.reasoningOpen, format.reasoningClose};
    }
    if (format.calls == CallDialect::kHarmony) {
        const auto harmony = tool_parsers::HarmonyParser::marks();
        marks.insert(marks.end(), harmony.begin(), harmony.end());
    }
    if (!hasTools) {
        return marks;
    }
    const tool_parsers::ParameterTypes types(std::vector<std::string>{});
    tool_parsers::CallGrammar grammar = tool_parsers::grammarOf(format.calls, types);
    for (tool_parsers::CallOpening& opening : grammar.openings) {
        marks.push_back(std::move(opening.mark));
    }
    marks.insert(marks.end(), grammar.fillers.begin(), grammar.fillers.end());
    marks.insert(marks.end(), grammar.inside.begin(), grammar.inside.end());
    return marks;
}

ReplyParser makeReplyParser(const PreparedRequest& prepared) {
    const auto* chat = std::get_if<ChatPrompt>(&prepared.request.prompt);
    return chat == nullptr ? ReplyParser({}, {}, {})
                           : ReplyParser(prepared.replyFormat, prepared.promptText, chat->tools);
}

}  // namespace quern::engine
