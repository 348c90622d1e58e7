#include "app/chat/chat_reply_parser.h"

namespace quern::app {

namespace {

bool marksItsCalls(engine::CallDialect dialect) {
    switch (dialect) {
        case engine::CallDialect::kNone:
        case engine::CallDialect::kLlama3:
        case engine::CallDialect::kPythonic:
            return false;
        default:
            return true;
    }
}

}  // namespace

engine::ReplyParser chatReplyParser(const engine::LoadedModel& model,
                                    engine::PreparedRequest& prepared) {
    if (!marksItsCalls(prepared.replyFormat.calls)) {
        return engine::makeReplyParser(prepared);
    }
    prepared.markTokens.clear();
    for (const std::string& mark : engine::marksOf(prepared.replyFormat, true)) {
        const auto token = model.tokenizer ? model.tokenizer->find(mark) : std::nullopt;
        if (token && model.tokenizer->isControl(*token)) {
            prepared.markTokens.push_back(*token);
        }
    }
    // Stands for whatever the system prompt describes: with a tool the parser looks for calls.
    static constexpr const char* kAnyTool =
        R"({"type": "function", "function": {"name": "any", "parameters": {"type": "object"}}})";
    return {prepared.replyFormat, prepared.promptText, {kAnyTool}};
}

}  // namespace quern::app
