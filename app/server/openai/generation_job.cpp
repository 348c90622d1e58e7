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

class GenerationJob : public std::enable_shared_from_this<GenerationJob> {
public:
    GenerationJob(std::shared_ptr<Exchange> exchange, engine::Engine& engine,
                  GenerationRequest request, std::function<void(const GenerationOutcome&)> done)
        : m_exchange(std::move(exchange)),
          m_engine(engine),
          m_request(std::move(request)),
          m_done(std::move(done)),
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
        auto model = m_engine.find(m_request.model);
        if (!model) {
            fail(fromEngine(model.error()));
            return;
        }
        m_identity.model = (*model)->name;
        m_model = *model;
        m_exchange->setClosedHandler([weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->onClientGone();
            }
        });
        m_exchange->setPressureHandler([weak = weak_from_this()](bool isSlow) {
            if (const auto self = weak.lock()) {
                self->setPaused(isSlow);
            }
        });
        for (std::size_t i = 0; i < m_runs.size(); ++i) {
            m_engine.prepareAsync(
                std::move(m_request.prompts[i]),
                [self = shared_from_this(), i](Result<engine::PreparedRequest> result) {
                    auto shared =
                        std::make_shared<Result<engine::PreparedRequest>>(std::move(result));
                    self->m_exchange->post([self, i, shared] { self->onPrepared(i, *shared); });
                });
        }
    }

private:
    /// Brings an engine request's events to the exchange's thread.
    class Sink : public engine::EventSink {
    public:
        Sink(std::shared_ptr<GenerationJob> job, std::size_t run)
            : m_job(std::move(job)), m_run(run) {}
        void onEvent(engine::TokenEvent event) override {
            auto shared = std::make_shared<engine::TokenEvent>(std::move(event));
            m_job->m_exchange->post(
                [job = m_job, run = m_run, shared] { job->onEvent(run, *shared); });
        }

    private:
        std::shared_ptr<GenerationJob> m_job;
        std::size_t m_run;
    };

    void onPrepared(std::size_t index, Result<engine::PreparedRequest>& result) {
        if (m_isOver) {
            return;
        }
        if (!result) {
            fail(fromEngine(result.error()));
            return;
        }
        PromptRun& run = m_runs[index];
        run.promptTokens = static_cast<std::int32_t>(result->promptIds.size());
        for (std::int32_t i = 0; i < m_request.choices; ++i) {
            run.choices.emplace_back(
                engine::makeReplyParser(*result),
                ChoiceShape{.index = static_cast<std::int32_t>(index) * m_request.choices + i,
                            .hasLogprobs = m_request.topLogprobs >= 0,
                            .hasPromptLogprobs = m_request.promptLogprobs,
                            .dropsOutput = m_request.dropsOutput,
                            .hasOneCallAtMost = m_request.hasOneCallAtMost,
                            .echo = echoOf(*result)});
        }
        run.prepared = std::move(*result);
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
            auto id = m_engine.submit(std::move(*m_runs[i].prepared),
                                      std::make_shared<Sink>(shared_from_this(), i));
            if (!id) {
                fail(fromEngine(id.error()));
                return;
            }
            m_runs[i].id = *id;
        }
        if (m_request.isStream) {
            m_hasStarted = true;
            m_exchange->startStream("text/event-stream");
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
        if (m_isOver) {
            return;
        }
        if (event.finish && event.finish->reason == engine::FinishReason::kError) {
            fail(fromEngine(event.finish->error.value_or(Error{})));
            return;
        }
        if (event.finish && event.finish->reason == engine::FinishReason::kCancelled) {
            fail(fromStatus(503,
                            "the request was cancelled: the model or the server is going away"));
            return;
        }
        if (event.finish && event.finish->reason == engine::FinishReason::kDeadline) {
            fail(fromStatus(504, "the request's deadline has passed"));
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
        tell(m_runs[run], choice, event);
        if (isLast && ++m_finishedCount == m_wholes.size()) {
            complete();
        }
    }

    // Puts what an event brings where it belongs: the stream, or the answer.
    void tell(const PromptRun& run, ChoiceReply& choice, engine::TokenEvent& event) {
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

    // The audit line comes first: whoever has the answer finds it there.
    void complete() {
        m_isOver = true;
        report(200);
        if (m_request.isStream) {
            if (m_request.includesUsage) {
                sendEvent(usageChunkJson(m_identity, totalUsage()));
            }
            m_exchange->write("data: [DONE]\n\n");
            m_exchange->endStream();
        } else {
            Json reply = replyJson(m_identity, m_wholes, totalUsage());
            addWarnings(reply);
            m_exchange->respond({.status = 200,
                                 .contentType = "application/json",
                                 .body = jsonText(reply),
                                 .headers = {}});
        }
    }

    void fail(const ApiError& error) {
        if (m_isOver) {
            return;
        }
        m_isOver = true;
        cancelAll();
        report(error.status);
        if (m_hasStarted) {
            m_exchange->write("data: " + errorBody(error) + "\n\n");
            m_exchange->write("data: [DONE]\n\n");
            m_exchange->endStream();
        } else {
            m_exchange->respond(errorResponse(error));
        }
    }

    void onClientGone() {
        if (!m_isOver) {
            m_isOver = true;
            cancelAll();
            report(499);  // as proxies note a client that closed its request
        }
    }

    void cancelAll() {
        for (const PromptRun& run : m_runs) {
            if (run.id) {
                m_engine.cancel(*run.id);
            }
        }
    }

    void setPaused(bool isPaused) {
        for (const PromptRun& run : m_runs) {
            if (run.id) {
                m_engine.setPaused(*run.id, isPaused);
            }
        }
    }

    void sendEvent(Json json) {
        addWarnings(json);
        m_exchange->write("data: " + jsonText(json) + "\n\n");
    }

    // Once an answer: a stream has them in its first chunk.
    void addWarnings(Json& json) {
        for (const std::string& name : std::exchange(m_request.warnings, {})) {
            json["warnings"].push_back("unknown field '" + name + "' was ignored");
        }
    }

    void report(int status) {
        GenerationOutcome outcome{.status = status, .model = m_identity.model};
        for (const PromptRun& run : m_runs) {
            outcome.promptTokens += run.promptTokens;
        }
        outcome.completionTokens = static_cast<std::int32_t>(m_completionTokens);
        m_done(outcome);
    }

    std::shared_ptr<Exchange> m_exchange;
    engine::Engine& m_engine;
    GenerationRequest m_request;
    std::function<void(const GenerationOutcome&)> m_done;
    ReplyIdentity m_identity;
    std::shared_ptr<const engine::LoadedModel> m_model;
    std::vector<PromptRun> m_runs;
    std::vector<ReplyChoice> m_wholes;  // of an answer that is no stream
    std::size_t m_preparedCount = 0;
    std::size_t m_finishedCount = 0;
    std::int64_t m_completionTokens = 0;
    bool m_hasStarted = false;
    bool m_isOver = false;
};

}  // namespace

void startGeneration(std::shared_ptr<Exchange> exchange, engine::Engine& engine,
                     GenerationRequest request,
                     std::function<void(const GenerationOutcome&)> done) {
    std::make_shared<GenerationJob>(std::move(exchange), engine, std::move(request),
                                    std::move(done))
        ->start();
}

}  // namespace quern::app
