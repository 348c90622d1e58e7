#include "engine/text/tool_parsers/call_grammar.h"

namespace quern::engine::tool_parsers {
namespace {

using Place = CallOpening::Place;
using BodyMaker = std::function<std::unique_ptr<CallBody>()>;
/// What reads tags up to one that closes them all.
using TagMaker = std::function<BodyMaker(const char* close)>;

/// JSON between marks. Several objects may follow each other between them.
CallGrammar markedJson() {
    const auto json = [] { return makeJsonBody(); };
    return {
        .openings =
            {{"<tool_call>", json},
             {"<tool_calls>", json},
             {"<TOOLCALL>", json},
             {"<function_call>", json},
             {"<|function_call|>", json},
             {"function call<|role_sep|>", json},
             {"<|action_start|><|plugin|>", json},
             {"<|tools_prefix|>", [] { return makeJsonBody(CallForm::kNameIsKey); }},
             {.mark = "{", .makeBody = json, .place = Place::kAfterCall, .isPartOfBody = true}},
        .fillers = {"</tool_call>", "</tool_calls>", "</TOOLCALL>", "</function_call>",
                    "<|action_end|>", "<|tools_suffix|>"},
        .leads = {"<|message_sep|>"},
        .inside = {"<|role_sep|>", "<|action_start|>", "<|plugin|>"},
    };
}

CallGrammar qwenCoder(const TagMaker& tags) {
    return {
        .openings = {{"<tool_call>", tags("</tool_call>")},
                     {"<seed:tool_call>", tags("</seed:tool_call>")},
                     {.mark = "<function=", .makeBody = tags("</function>"), .isPartOfBody = true},
                     {.mark = "<function name=\"",
                      .makeBody = tags("</function>"),
                      .isPartOfBody = true}},
        .fillers = {"</tool_call>", "</seed:tool_call>"},
        .leads = {},
        .inside = {}};
}

CallGrammar invoke(const TagMaker& tags) {
    return {.openings = {{"<minimax:tool_call>", tags("</minimax:tool_call>")},
                         {"<atem:function_calls>", tags("</atem:function_calls>")},
                         {"<｜DSML｜function_calls>", tags("</｜DSML｜function_calls>")},
                         {"<｜DSML｜tool_calls>", tags("</｜DSML｜tool_calls>")}},
            .fillers = {},
            .leads = {},
            .inside = {"</minimax:tool_call>", "｜DSML｜"}};
}

CallGrammar glm(const ParameterTypes& types) {
    // Hunyuan writes the same with a suffix in every tag.
    const auto body = [&types](const char* suffix) {
        return [&types, suffix] { return makeGlmBody(types, suffix); };
    };
    return {
        .openings = {{"<tool_call>", body("")}, {"<tool_call:opensource>", body(":opensource")}},
        .fillers = {"</tool_calls:opensource>", "</tool_calls>"},
        .leads = {"<tool_calls:opensource>", "<tool_calls>"},
        .inside = {"</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
                   "<tool_sep>", "</tool_call:opensource>", "<tool_sep:opensource>",
                   "<arg_key:opensource>", "</arg_key:opensource>", "<arg_value:opensource>",
                   "</arg_value:opensource>"}};
}

CallGrammar llama3() {
    const auto json = [] { return makeJsonBody(); };
    return {.openings =
                {{"<|python_tag|>", json},
                 {.mark = "{", .makeBody = json, .place = Place::kAtStart, .isPartOfBody = true},
                 {.mark = "[", .makeBody = json, .place = Place::kAtStart, .isPartOfBody = true},
                 {"<function=", [] { return makeNamedJsonBody({">"}); }}},
            .fillers = {"</function>", ";"},
            .leads = {"<|eom_id|>", "<|eot_id|>"},
            .inside = {}};
}

CallGrammar pythonic() {
    const auto list = [] { return makePythonicBody("]"); };
    return {.openings = {{"<|tool_call_start|>[", list},
                         {.mark = "[", .makeBody = list, .place = Place::kAtStart},
                         {"<function_calls>", [] { return makePythonicBody("</function_calls>"); }},
                         {.mark = "{",
                          .makeBody = [] { return makeJsonBody(); },
                          .place = Place::kAtStart,
                          .isPartOfBody = true}},
            .fillers = {"<|tool_call_end|>", "<|python_end|>"},
            .leads = {"<|python_start|>"},
            .inside = {"<|tool_call_start|>"}};
}

}  // namespace

CallGrammar grammarOf(CallDialect dialect, const ParameterTypes& types) {
    const auto json = [] { return makeJsonBody(); };
    const auto named = [](std::vector<std::string> separators, std::string nameMark = "") {
        return [separators, nameMark] { return makeNamedJsonBody(separators, nameMark); };
    };
    const TagMaker tags = [&types](const char* close) {
        return [&types, close] { return makeTagBody(types, close); };
    };
    switch (dialect) {
        case CallDialect::kNone:
        case CallDialect::kHarmony:
            return {};
        case CallDialect::kHermes:
            return markedJson();
        case CallDialect::kQwenCoder:
            return qwenCoder(tags);
        case CallDialect::kInvoke:
        case CallDialect::kRecipient:
            return invoke(tags);
        case CallDialect::kGlm:
            return glm(types);
        case CallDialect::kLlama3:
            return llama3();
        case CallDialect::kMistral:
            return {.openings = {{"[TOOL_CALLS]", [] { return makeMistralBody(); }}},
                    .fillers = {},
                    .leads = {},
                    .inside = {"[ARGS]", "[CALL_ID]"}};
        case CallDialect::kDeepSeek:
            return {.openings = {{"<｜tool▁call▁begin｜>function<｜tool▁sep｜>", named({"\n"})},
                                 {"<｜tool▁call▁begin｜>", named({"<｜tool▁sep｜>"})}},
                    .fillers = {"<｜tool▁calls▁end｜>", "```", "<｜tool▁call▁end｜>"},
                    .leads = {"<｜tool▁calls▁begin｜>"},
                    .inside = {"<｜tool▁sep｜>"}};
        case CallDialect::kKimi:
            return {.openings = {{"<|tool_call_begin|>", named({"<|tool_call_argument_begin|>"})}},
                    .fillers = {"<|tool_calls_section_end|>", "<|tool_call_end|>"},
                    .leads = {"<|tool_calls_section_begin|>"},
                    .inside = {"<|tool_call_argument_begin|>"}};
        case CallDialect::kOpenTags:
            return {.openings = {{"<|open|>call ", [] { return makeOpenTagBody(); }}},
                    .fillers = {},
                    .leads = {"<|open|>tools<|sep|>", "<|close|>tools<|sep|>"},
                    .inside = {"<|open|>", "<|close|>", "<|sep|>"}};
        case CallDialect::kSolar:
            return {.openings = {{"<|tool_call:begin|>",
                                  named({"<|tool_call:args|>"}, "<|tool_call:name|>")}},
                    .fillers = {"<|tool_call:end|>", "<|calls|>"},
                    .leads = {"<|tool_calls|>"},
                    .inside = {"<|tool_call:name|>", "<|tool_call:args|>"}};
        case CallDialect::kMiniMaxTree:
            return {.openings = {{"]<]minimax[>[<tool_call>",
                                  [&types] { return makeTreeBody(types); }}},
                    .fillers = {},
                    .leads = {},
                    .inside = {"]<]minimax[>[", "<tool_call>", "</tool_call>"}};
        case CallDialect::kPhi:
            return {.openings = {{"<|tool_call|>", json}, {"<tool_call>", json}},
                    .fillers = {"<|/tool_call|>", "</tool_call>"},
                    .leads = {},
                    .inside = {}};
        case CallDialect::kCommandR:
            return {.openings = {{"<|START_ACTION|>", json},
                                 {"Action: ```json\n", json},
                                 {"Action:```json\n", json}},
                    .fillers = {"<|END_ACTION|>", "```"},
                    .leads = {},
                    .inside = {}};
        case CallDialect::kFunctionary:
            return {.openings = {{"<function=", named({">"})}},
                    .fillers = {"</function>"},
                    .leads = {},
                    .inside = {}};
        case CallDialect::kArrows:
            return {.openings = {{">>>", named({"\n"})}}, .fillers = {}, .leads = {}, .inside = {}};
        case CallDialect::kFunctools:
            return {.openings = {{"functools", json}}, .fillers = {}, .leads = {}, .inside = {}};
        case CallDialect::kPythonic:
            return pythonic();
        case CallDialect::kGemma:
            return {.openings = {{"<|tool_call>", [] { return makeGemmaBody(); }}},
                    .fillers = {"<tool_call|>"},
                    .leads = {},
                    .inside = {"<|\"|>"}};
    }
    return {};
}

}  // namespace quern::engine::tool_parsers
