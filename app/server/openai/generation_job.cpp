#include "app/server/openai/generation_job.h"

#include <chrono>
#include <utility>

#include "app/server/openai/choice_reply.h"
#include "app/server/openai/random_id.h"
#include "app/server/openai/reply_json.h"

namespace quern::app {

namespace {

/// One prompt of the request and the engine's request that runs it.
struct PromptRun {
    std::optional<engine::PreparedRequest> prepared;
    std::optional<engine::RequestId> id;
    std::vector<ChoiceReply> choices;
    std::int32_t promptTokens = 0;
    std::int32_t cachedTokens = 0;
    std::vector<engine::TokenLogprob> promptLogprobs;  // until each choice has begun
};

class GenerationJob : public ExchangeJob {
public:
    GenerationJob(std::shared_ptr<Exchange> exchange, engine::Engine& engine,
                  GenerationRequest request, std::function<void(const RequestOutcome&)> done)
        : ExchangeJob(std::move(exchange), engine, std::move(done)),
          m_request(std::move(request)),
          m_runs(m_request.prompts.size()),
          m_wholes(m_runs.size() * static_cast<std::size_t>(m_request.choices)) {
        m_identity.kind = m_request.kind;
        const char* prefix = m_request.kind == GenerationKind::kChat ? "chatcmpl-" : "cmpl-";
        m_identity.id =
            m_request.requestId.empty() ? randomId(prefix) : prefix + m_request.requestId;
        m_identity.created = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
        for (std::size_t i = 0; i < m_wholes.size(); ++i) {
            m_wholes[i].index = static_cast<std::int32_t>(i);
        }
    }

    void start() {
        m_model = begin(m_request.model);
        if (m_model == nullptr) {
            return;
        }
        // An adapter is a model of its own name.
        m_identity.model = m_request.model.empty() ? m_model->name : m_request.model;
        for (std::size_t i = 0; i < m_runs.size(); ++i) {
            prepare(std::move(m_request.prompts[i]),
                    [this, i](engine::PreparedRequest& prepared) { onPrepared(i, prepared); });
        }
    }

private:
    void onPrepared(std::size_t index, engine::PreparedRequest& prepared) {
        PromptRun& run = m_runs[index];
        run.promptTokens = static_cast<std::int32_t>(prepared.promptIds.size());
        for (std::int32_t i = 0; i < m_request.choices; ++i) {
            run.choices.emplace_back(
                engine::makeReplyParser(prepared),
                ChoiceShape{.index = static_cast<std::int32_t>(index) * m_request.choices + i,
                            .hasLogprobs = m_request.topLogprobs >= 0,
                            .hasPromptLogprobs = m_request.promptLogprobs,
                            .dropsOutput = m_request.dropsOutput,
                            .hasOneCallAtMost = m_request.hasOneCallAtMost,
                            .echo = echoOf(prepared)});
        }
        run.prepared = std::move(prepared);
        if (++m_preparedCount == m_runs.size()) {
            submitAll();
        }
    }

    [[nodiscard]] std::optional<std::string> echoOf(const engine::PreparedRequest& prepared) const {
        if (!m_request.echoes) {
            return std::nullopt;
        }
        if (!prepared.promptText.empty() || m_model->tokenizer == nullptr) {
            return prepared.promptText;
        }
        return m_model->tokenizer->decode(prepared.promptIds, false);
    }

    void submitAll() {
        for (std::size_t i = 0; i < m_runs.size(); ++i) {
            auto id = engine().submit(std::move(*m_runs[i].prepared),
                                      sink([this, i](auto& event) { onEvent(i, event); }));
            if (!id) {
                fail(fromEngine(id.error()));
                return;
            }
            m_runs[i].id = *id;
        }
        if (m_request.isStream) {
            m_hasStarted = true;
            exchange().startStream("text/event-stream");
            if (m_request.kind == GenerationKind::kChat) {
                for (const ReplyChoice& whole : m_wholes) {
                    ReplyChoice first;
                    first.index = whole.index;
                    first.isFirst = true;
                    sendEvent(chunkJson(m_identity, first));
                }
            }
        }
    }

    void onEvent(std::size_t run, engine::TokenEvent& event) {
        if (const auto failure = event.finish ? failureOf(*event.finish) : std::nullopt) {
            fail(*failure);
            return;
        }
        if (event.finish) {
            m_runs[run].promptTokens = event.finish->usage.promptTokens;
            m_runs[run].cachedTokens = event.finish->usage.cachedTokens;
            m_completionTokens += m_request.dropsOutput ? 0 : event.finish->usage.completionTokens;
        }
        const bool isLast = event.finish.has_value();
        ChoiceReply& choice = m_runs[run].choices[static_cast<std::size_t>(event.choice)];
        // The engine tells them once, and every choice shows them.
        if (!event.promptLogprobs.empty()) {
            m_runs[run].promptLogprobs = event.promptLogprobs;
        } else if (!choice.hasBegun()) {
            event.promptLogprobs = m_runs[run].promptLogprobs;
        }
        deliver(m_runs[run], choice, event);
        if (isLast && ++m_finishedCount == m_wholes.size()) {
            complete();
        }
    }

    // Puts what an event brings where it belongs: the stream, or the answer.
    void deliver(const PromptRun& run, ChoiceReply& choice, engine::TokenEvent& event) {
        for (ReplyChoice& piece : choice.take(event)) {
            if (!m_request.isStream) {
                auto& whole = m_wholes[static_cast<std::size_t>(piece.index)];
                append(whole, std::move(piece));
                continue;
            }
            Json chunk = chunkJson(m_identity, piece);
            if (m_request.continuousUsage) {
                chunk["usage"] = usageJson({.prompt = run.promptTokens,
                                            .cached = run.cachedTokens,
                                            .completion = choice.completionTokens(),
                                            .reasoning = choice.reasoningTokens()});
            }
            sendEvent(std::move(chunk));
        }
    }

    [[nodiscard]] Json totalUsage() const {
        ReplyUsage usage{.completion = m_completionTokens};
        for (const PromptRun& run : m_runs) {
            usage.prompt += run.promptTokens;
            usage.cached += run.cachedTokens;
            for (const ChoiceReply& choice : run.choices) {
                usage.reasoning += choice.reasoningTokens();
            }
        }
        return usageJson(usage);
    }

    void complete() {
        end(200);
        if (m_request.isStream) {
            if (m_request.includesUsage) {
                sendEvent(usageChunkJson(m_identity, totalUsage()));
            }
            exchange().write("data: [DONE]\n\n");
            exchange().endStream();
        } else {
            Json reply = replyJson(m_identity, m_wholes, totalUsage());
            addWarnings(reply);
            exchange().respond({.status = 200,
                                .contentType = "application/json",
                                .body = jsonText(reply),
                                .headers = {}});
        }
    }

    void tell(const ApiError& error) override {
        if (m_hasStarted) {
            exchange().write("data: " + errorBody(error) + "\n\n");
            exchange().write("data: [DONE]\n\n");
            exchange().endStream();
        } else {
            exchange().respond(errorResponse(error));
        }
    }

    void cancelAll() override {
        for (const PromptRun& run : m_runs) {
            if (run.id) {
                engine().cancel(*run.id);
            }
        }
    }

    void setPaused(bool isPaused) override {
        for (const PromptRun& run : m_runs) {
            if (run.id) {
                engine().setPaused(*run.id, isPaused);
            }
        }
    }

    void sendEvent(Json json) {
        addWarnings(json);
        exchange().write("data: " + jsonText(json) + "\n\n");
    }

    // Once an answer: a stream has them in its first chunk.
    void addWarnings(Json& json) {
        for (const std::string& name : std::exchange(m_request.warnings, {})) {
            json["warnings"].push_back("unknown field '" + name + "' was ignored");
        }
    }

    RequestOutcome outcome() const override {
        RequestOutcome outcome{.model = m_identity.model,
                               .completionTokens = static_cast<std::int32_t>(m_completionTokens)};
        for (const PromptRun& run : m_runs) {
            outcome.promptTokens += run.promptTokens;
        }
        return outcome;
    }

    GenerationRequest m_request;
    ReplyIdentity m_identity;
    std::shared_ptr<const engine::LoadedModel> m_model;
    std::vector<PromptRun> m_runs;
    std::vector<ReplyChoice> m_wholes;  // of an answer that is no stream
    std::size_t m_preparedCount = 0;
    std::size_t m_finishedCount = 0;
    std::int64_t m_completionTokens = 0;
    bool m_hasStarted = false;
};

}  // namespace

void startGeneration(std::shared_ptr<Exchange> exchange, engine::Engine& engine,
                     GenerationRequest request, std::function<void(const RequestOutcome&)> done) {
    std::make_shared<GenerationJob>(std::move(exchange), engine, std::move(request),
                                    std::move(done))
        ->start();
}

}  // namespace quern::app
