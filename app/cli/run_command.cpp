#include "app/cli/run_command.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/chat/reply_figures.h"
#include "app/cli/exit_codes.h"
#include "app/cli/input_text.h"
#include "app/cli/model_session.h"
#include "app/cli/reply_printer.h"
#include "app/cli/reply_stream.h"

namespace quern::cli {

namespace {

using Json = nlohmann::ordered_json;

const char* reasonName(engine::FinishReason reason) {
    switch (reason) {
        case engine::FinishReason::kStop:
            return "stop";
        case engine::FinishReason::kLength:
            return "length";
        case engine::FinishReason::kContext:
            return "context";
        case engine::FinishReason::kCancelled:
            return "cancelled";
        case engine::FinishReason::kDeadline:
            return "deadline";
        case engine::FinishReason::kError:
            return "error";
    }
    return "";
}

Json asJson(const engine::TokenLogprob& logprob) {
    Json entry{{"id", logprob.token}, {"token", logprob.bytes}, {"logprob", logprob.logprob}};
    if (!logprob.top.empty()) {
        entry["top"] = Json::array();
        for (const auto& other : logprob.top) {
            entry["top"].push_back(asJson(other));
        }
    }
    return entry;
}

engine::Request buildRequest(const RunOptions& options, const ModelSession& session,
                             std::string prompt) {
    const engine::LoadedModel& model = *session.model;
    engine::Request request;
    request.model = session.name;
    request.sampling = model.defaults;
    options.sampling.apply(request.sampling, request.output);
    request.output.topLogprobs = options.logprobs;
    request.clientId = "run";
    if (!options.suffix.empty()) {
        request.prompt =
            engine::InfillPrompt{.prefix = std::move(prompt), .suffix = options.suffix};
        return request;
    }
    // A model without a chat template, such as a base model, takes the text as it is.
    if (options.isRaw || model.templates.standard == nullptr) {
        request.prompt = engine::TextPrompt{.text = std::move(prompt)};
        return request;
    }
    engine::ChatPrompt chat;
    const auto add = [&](const char* role, std::string text) {
        engine::ChatMessage message;
        message.role = role;
        message.textParts.push_back(std::move(text));
        chat.messages.push_back(std::move(message));
    };
    if (!options.system.empty()) {
        add("system", options.system);
    }
    add("user", std::move(prompt));
    request.prompt = std::move(chat);
    return request;
}

/// What a run gathers beside the text it prints.
struct Reply {
    std::string text;
    std::string reasoning;
    std::vector<engine::TokenId> tokens;
    std::vector<engine::TokenLogprob> logprobs;
    engine::FinishInfo finish;
};

Reply printReply(ReplyStream& stream, engine::ReplyParser& parser, ReplyPrinter* printer) {
    Reply reply;
    const auto take = [&](const std::vector<engine::ReplyDelta>& deltas) {
        for (const engine::ReplyDelta& delta : deltas) {
            const bool isReasoning = delta.kind == engine::ReplyDelta::Kind::kReasoning;
            (isReasoning ? reply.reasoning : reply.text) += delta.text;
            if (printer != nullptr) {
                isReasoning ? printer->reasoning(delta.text) : printer->text(delta.text);
            }
        }
    };
    while (true) {
        engine::TokenEvent event = stream.next();
        take(parser.push(event.text));
        reply.tokens.insert(reply.tokens.end(), event.tokens.begin(), event.tokens.end());
        std::move(event.logprobs.begin(), event.logprobs.end(), std::back_inserter(reply.logprobs));
        if (event.finish) {
            take(parser.finish());
            reply.finish = std::move(*event.finish);
            return reply;
        }
    }
}

void printJson(const Reply& reply, const engine::PreparedRequest& prepared) {
    const engine::Usage& usage = reply.finish.usage;
    const engine::Request& asked = prepared.request;
    Json json{{"model", asked.adapter.empty() ? asked.model : asked.adapter},
              {"text", reply.text},
              {"tokens", reply.tokens},
              {"prompt_tokens", prepared.promptIds},
              {"finish_reason", reasonName(reply.finish.reason)},
              {"stop_reason", reply.finish.stopReason},
              {"seed", prepared.seed},
              {"usage",
               {{"prompt_tokens", usage.promptTokens},
                {"cached_tokens", usage.cachedTokens},
                {"completion_tokens", usage.completionTokens},
                {"ttft_seconds", usage.ttftSeconds},
                {"prefill_seconds", usage.prefillSeconds},
                {"decode_seconds", usage.decodeSeconds}}}};
    if (!reply.reasoning.empty()) {
        json["reasoning"] = reply.reasoning;
    }
    if (!reply.logprobs.empty()) {
        json["logprobs"] = Json::array();
        for (const auto& logprob : reply.logprobs) {
            json["logprobs"].push_back(asJson(logprob));
        }
    }
    if (reply.finish.error) {
        json["error"] = reply.finish.error->message;
    }
    // A token may hold part of a character: replaced, since JSON is UTF-8; `id` tells it exactly.
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void printLogprobs(const std::vector<engine::TokenLogprob>& logprobs) {
    for (const auto& chosen : logprobs) {
        std::fprintf(
            stderr, "%8d %9.4f  %s\n", chosen.token, static_cast<double>(chosen.logprob),
            Json(chosen.bytes).dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
        for (const auto& other : chosen.top) {
            std::fprintf(
                stderr, "    %8d %9.4f  %s\n", other.token, static_cast<double>(other.logprob),
                Json(other.bytes).dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
        }
    }
}

Result<std::string> promptOf(const RunOptions& options) {
    std::string prompt = options.prompt.value_or("-");
    if (prompt == "-" && ::isatty(STDIN_FILENO) == 0) {
        auto text = readStandardInput();
        if (!text) {
            return text;
        }
        prompt = std::move(*text);
    } else if (prompt == "-") {
        prompt.clear();
    }
    // Without a chat around it, an empty text may be meant: what a model says by itself.
    if (prompt.empty() && !options.isRaw && options.suffix.empty()) {
        return fail(ErrorCode::kInvalidArgument,
                    "no prompt: give one, or pipe it in (quern chat talks)");
    }
    return prompt;
}

}  // namespace

int runRun(const RunOptions& options, const app::ModelLibrary& library,
           InterruptWatcher& interrupts) {
    auto given = promptOf(options);
    if (!given) {
        return reportError(given.error());
    }
    std::string prompt = std::move(*given);
    auto session = ModelSession::open(library, options.model, options.modelFlags, options.asJson,
                                      {}, options.lora);
    if (!session) {
        return reportError(session.error());
    }
    engine::Engine& engine = *session->engine;
    auto prepared = engine.prepare(buildRequest(options, *session, std::move(prompt)));
    if (!prepared) {
        return reportError(prepared.error());
    }
    const engine::PreparedRequest shown = *prepared;
    engine::ReplyParser parser = engine::makeReplyParser(shown);
    auto stream = std::make_shared<ReplyStream>();
    auto id = engine.submit(std::move(*prepared), stream);
    if (!id) {
        return reportError(id.error());
    }
    // The first Ctrl+C ends the reply; a second one, with nothing left to wait for, the program.
    interrupts.setHandler([&engine, &interrupts, request = *id] {
        interrupts.setHandler({});
        engine.cancel(request);
    });
    ReplyPrinter printer;
    const Reply reply = printReply(*stream, parser, options.asJson ? nullptr : &printer);
    interrupts.setHandler({});
    if (options.asJson) {
        printJson(reply, shown);
    } else {
        printer.end();
        printLogprobs(reply.logprobs);
        std::fprintf(stderr, "%s\n", figuresLine(app::figuresOf(reply.finish)).c_str());
    }
    if (reply.finish.error) {
        return options.asJson ? exitCodeOf(*reply.finish.error) : reportError(*reply.finish.error);
    }
    return reply.finish.reason == engine::FinishReason::kCancelled ? kExitInterrupted : kExitOk;
}

}  // namespace quern::cli
