#include "app/server/openai/reply_json.h"

#include <cmath>

namespace quern::app {

namespace {

// JSON has no infinity; OpenAI's servers write this number for it.
constexpr double kNoLogprob = -9999.0;

double finite(float logprob) {
    return std::isfinite(logprob) ? static_cast<double>(logprob) : kNoLogprob;
}

// A reply that was cut is "length", with calls in it or not.
const char* finishName(const ReplyChoice& choice) {
    const engine::FinishReason reason = choice.finish->reason;
    if (reason == engine::FinishReason::kLength || reason == engine::FinishReason::kContext) {
        return "length";
    }
    return choice.hasCalls ? "tool_calls" : "stop";
}

// A call's beginning, or the whole of it.
Json callJson(const ReplyCall& call) {
    return {{"id", call.id},
            {"type", "function"},
            {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

Json callDelta(const ReplyCall& call) {
    Json delta{{"index", call.index}};
    if (call.name.empty()) {
        delta["function"] = {{"arguments", call.arguments}};
    } else {
        delta.update(callJson(call));
    }
    return delta;
}

Json deltaJson(const ReplyChoice& choice) {
    Json delta = Json::object();
    if (choice.isFirst) {
        delta["role"] = "assistant";
        delta["content"] = "";
    } else if (!choice.calls.empty()) {
        delta["tool_calls"] = Json::array();
        for (const ReplyCall& call : choice.calls) {
            delta["tool_calls"].push_back(callDelta(call));
        }
    } else if (!choice.reasoning.empty()) {
        delta["reasoning_content"] = choice.reasoning;
    } else if (!choice.finish) {
        delta["content"] = choice.text;
    }
    return delta;
}

Json messageJson(const ReplyChoice& choice) {
    const bool isCallAlone = choice.text.empty() && !choice.calls.empty();
    Json message{{"role", "assistant"},
                 {"content", isCallAlone ? Json() : Json(choice.text)},
                 {"refusal", nullptr}};
    if (!choice.reasoning.empty()) {
        message["reasoning_content"] = choice.reasoning;
    }
    for (const ReplyCall& call : choice.calls) {
        message["tool_calls"].push_back(callJson(call));
    }
    return message;
}

// The string or token that ended it; that the context is full, which is not max_tokens, shows here.
Json stopReason(const engine::FinishInfo& finish) {
    if (finish.reason == engine::FinishReason::kContext) {
        return "context_length";
    }
    if (finish.stopToken) {
        return *finish.stopToken;
    }
    return finish.stopReason.empty() ? Json() : Json(finish.stopReason);
}

Json chatToken(const engine::TokenLogprob& token) {
    Json bytes = Json::array();
    for (const char byte : token.bytes) {
        bytes.push_back(static_cast<unsigned char>(byte));
    }
    return {
        {"token", token.bytes}, {"logprob", finite(token.logprob)}, {"bytes", std::move(bytes)}};
}

Json chatLogprobs(const std::vector<engine::TokenLogprob>& logprobs) {
    Json content = Json::array();
    for (const auto& chosen : logprobs) {
        Json entry = chatToken(chosen);
        entry["top_logprobs"] = Json::array();
        for (const auto& other : chosen.top) {
            entry["top_logprobs"].push_back(chatToken(other));
        }
        content.push_back(std::move(entry));
    }
    return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Json completionLogprobs(const ReplyChoice& choice) {
    Json tokens = Json::array();
    Json logprobs = Json::array();
    Json top = Json::array();
    Json offsets = Json::array();
    std::size_t offset = choice.textOffset;
    for (std::size_t i = 0; i < choice.logprobs.size(); ++i) {
        const auto& chosen = choice.logprobs[i];
        tokens.push_back(chosen.bytes);
        offsets.push_back(offset);
        offset += chosen.bytes.size();
        // Nothing comes before the first token of a prompt.
        if (i == 0 && choice.echoed > 0) {
            logprobs.push_back(nullptr);
            top.push_back(nullptr);
            continue;
        }
        logprobs.push_back(finite(chosen.logprob));
        Json others = Json::object();
        for (const auto& other : chosen.top) {
            others[other.bytes] = finite(other.logprob);
        }
        top.push_back(chosen.top.empty() ? Json() : std::move(others));
    }
    return {{"tokens", std::move(tokens)},
            {"token_logprobs", std::move(logprobs)},
            {"top_logprobs", std::move(top)},
            {"text_offset", std::move(offsets)}};
}

// vLLM's form: a list whose first entry is null, then an object by token id.
Json promptLogprobs(const std::vector<engine::TokenLogprob>& logprobs) {
    Json list = Json::array();
    for (std::size_t i = 0; i < logprobs.size(); ++i) {
        if (i == 0) {
            list.push_back(nullptr);
            continue;
        }
        Json entry = Json::object();
        const auto add = [&](const engine::TokenLogprob& token) {
            entry[std::to_string(token.token)] = {{"logprob", finite(token.logprob)},
                                                  {"decoded_token", token.bytes}};
        };
        add(logprobs[i]);
        for (const auto& other : logprobs[i].top) {
            add(other);
        }
        list.push_back(std::move(entry));
    }
    return list;
}

Json logprobsOf(const ReplyIdentity& identity, const ReplyChoice& choice) {
    if (!choice.hasLogprobs) {
        return {};
    }
    return identity.kind == GenerationKind::kChat ? chatLogprobs(choice.logprobs)
                                                  : completionLogprobs(choice);
}

Json frame(const ReplyIdentity& identity, const char* object) {
    return {{"id", identity.id},
            {"object", object},
            {"created", identity.created},
            {"model", identity.model}};
}

const char* chunkObject(const ReplyIdentity& identity) {
    return identity.kind == GenerationKind::kChat ? "chat.completion.chunk" : "text_completion";
}

}  // namespace

Json usageJson(const ReplyUsage& usage) {
    return {{"prompt_tokens", usage.prompt},
            {"completion_tokens", usage.completion},
            {"total_tokens", usage.prompt + usage.completion},
            {"prompt_tokens_details", {{"cached_tokens", usage.cached}}},
            {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning}}}};
}

Json chunkJson(const ReplyIdentity& identity, const ReplyChoice& choice) {
    Json entry{{"index", choice.index}};
    if (identity.kind == GenerationKind::kChat) {
        entry["delta"] = deltaJson(choice);
    } else {
        entry["text"] = choice.finish ? "" : choice.text;
    }
    entry["logprobs"] = choice.finish || choice.isFirst ? Json() : logprobsOf(identity, choice);
    if (choice.hasPromptLogprobs && !choice.finish) {
        entry["prompt_logprobs"] = promptLogprobs(choice.promptLogprobs);
    }
    entry["finish_reason"] = choice.finish ? Json(finishName(choice)) : Json();
    if (choice.finish) {
        entry["stop_reason"] = stopReason(*choice.finish);
    }
    Json chunk = frame(identity, chunkObject(identity));
    chunk["choices"] = Json::array({std::move(entry)});
    return chunk;
}

Json usageChunkJson(const ReplyIdentity& identity, const Json& usage) {
    Json chunk = frame(identity, chunkObject(identity));
    chunk["choices"] = Json::array();
    chunk["usage"] = usage;
    return chunk;
}

Json replyJson(const ReplyIdentity& identity, const std::vector<ReplyChoice>& choices,
               const Json& usage) {
    const bool isChat = identity.kind == GenerationKind::kChat;
    Json reply = frame(identity, isChat ? "chat.completion" : "text_completion");
    reply["choices"] = Json::array();
    for (const ReplyChoice& choice : choices) {
        Json entry{{"index", choice.index}};
        if (isChat) {
            entry["message"] = messageJson(choice);
        } else {
            entry["text"] = choice.text;
        }
        entry["logprobs"] = logprobsOf(identity, choice);
        if (choice.hasPromptLogprobs) {
            entry["prompt_logprobs"] = promptLogprobs(choice.promptLogprobs);
        }
        entry["finish_reason"] = finishName(choice);
        entry["stop_reason"] = stopReason(*choice.finish);
        reply["choices"].push_back(std::move(entry));
    }
    reply["usage"] = usage;
    return reply;
}

std::string jsonText(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace quern::app
