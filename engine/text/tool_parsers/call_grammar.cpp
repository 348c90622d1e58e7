#include "engine/text/tool_parsers/call_grammar.h"

namespace quern::engine::tool_parsers {

CallGrammar grammarOf(CallDialect dialect, const ParameterTypes& types) {
    const auto json = [] { return makeJsonBody(); };
    const auto named = [](std::vector<std::string> separators) {
        return [separators] { return makeNamedJsonBody(separators); };
    };
    const auto tags = [&types](const char* close) {
        return [&types, close] { return makeTagBody(types, close); };
    };
    switch (dialect) {
        case CallDialect::kNone:
        case CallDialect::kHarmony:
            return {};
        case CallDialect::kHermes:
            return {.openings = {{"<tool_call>", json}}, .fillers = {"</tool_call>"}, .inside = {}};
        case CallDialect::kQwenCoder:
            return {.openings = {{"<tool_call>", tags("</tool_call>")},
                                 {"<seed:tool_call>", tags("</seed:tool_call>")}},
                    .fillers = {},
                    .inside = {"</tool_call>", "</seed:tool_call>"}};
        case CallDialect::kInvoke:
            return {.openings = {{"<minimax:tool_call>", tags("</minimax:tool_call>")},
                                 {"<｜DSML｜function_calls>", tags("</｜DSML｜function_calls>")},
                                 {"<｜DSML｜tool_calls>", tags("</｜DSML｜tool_calls>")}},
                    .fillers = {},
                    .inside = {"</minimax:tool_call>", "｜DSML｜"}};
        case CallDialect::kGlm:
            return {.openings = {{"<tool_call>", [&types] { return makeGlmBody(types); }}},
                    .fillers = {},
                    .inside = {"</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>",
                               "</arg_value>"}};
        case CallDialect::kLlama3:
            return {.openings =
                        {{"<|python_tag|>", json},
                         {.mark = "{", .makeBody = json, .isAtStart = true, .isPartOfBody = true},
                         {"<function=", named({">"})}},
                    .fillers = {"</function>", "<|eom_id|>", "<|eot_id|>"},
                    .inside = {}};
        case CallDialect::kMistral:
            return {.openings = {{"[TOOL_CALLS]", [] { return makeMistralBody(); }}},
                    .fillers = {},
                    .inside = {"[ARGS]", "[CALL_ID]"}};
        case CallDialect::kDeepSeek:
            return {.openings = {{"<｜tool▁call▁begin｜>function<｜tool▁sep｜>", named({"\n"})},
                                 {"<｜tool▁call▁begin｜>", named({"<｜tool▁sep｜>"})}},
                    .fillers = {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "```",
                                "<｜tool▁call▁end｜>"},
                    .inside = {"<｜tool▁sep｜>"}};
        case CallDialect::kKimi:
            return {.openings = {{"<|tool_call_begin|>", named({"<|tool_call_argument_begin|>"})}},
                    .fillers = {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
                                "<|tool_call_end|>"},
                    .inside = {"<|tool_call_argument_begin|>"}};
        case CallDialect::kPhi:
            return {.openings = {{"<|tool_call|>", json}, {"<tool_call>", json}},
                    .fillers = {"<|/tool_call|>", "</tool_call>"},
                    .inside = {}};
        case CallDialect::kCommandR:
            return {.openings = {{"<|START_ACTION|>", json},
                                 {"Action: ```json\n", json},
                                 {"Action:```json\n", json}},
                    .fillers = {"<|END_ACTION|>", "```", "<|START_RESPONSE|>", "<|END_RESPONSE|>"},
                    .inside = {}};
        case CallDialect::kFunctionary:
            return {.openings = {{"<function=", named({">"})}},
                    .fillers = {"</function>"},
                    .inside = {}};
        case CallDialect::kFunctools:
            return {.openings = {{"functools", json}}, .fillers = {}, .inside = {}};
        case CallDialect::kPythonic:
            return {.openings = {{"<|tool_call_start|>[", [] { return makePythonicBody(); }},
                                 {.mark = "[",
                                  .makeBody = [] { return makePythonicBody(); },
                                  .isAtStart = true}},
                    .fillers = {"<|tool_call_end|>", "<|python_start|>", "<|python_end|>"},
                    .inside = {"<|tool_call_start|>"}};
        case CallDialect::kGemma:
            return {.openings = {{"<|tool_call>", [] { return makeGemmaBody(); }}},
                    .fillers = {"<tool_call|>"},
                    .inside = {"<|\"|>"}};
    }
    return {};
}

}  // namespace quern::engine::tool_parsers
