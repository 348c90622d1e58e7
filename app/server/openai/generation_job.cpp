#include "app/server/openai/generation_job.h"

#include <chrono>
#include <random>
#include <utility>

#include "app/server/openai/reply_json.h"

namespace quern::app {

namespace {

std::string randomId(const char* prefix) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::random_device random;
    std::string id = prefix;
    for (int word = 0; word < 4; ++word) {
        auto bits = random();
        for (int digit = 0; digit < 8; ++digit, bits >>= 4) {
            id += kDigits[bits & 15];
        }
    }
    return id;
}

/// One prompt of the request and the engine's request that runs it.
struct PromptRun {
    std::optional<engine::PreparedRequest> prepared;
    std::optional<engine::RequestId> id;
    std::string promptText;  // for echo
    std::int32_t promptTokens = 0;
    std::int32_t cachedTokens = 0;
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
          m_choices(m_runs.size() * static_cast<std::size_t>(m_request.choices)) {
        m_identity.kind = m_request.kind;
        m_identity.id = randomId(m_request.kind == GenerationKind::kChat ? "chatcmpl-" : "cmpl-");
        m_identity.created = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
        for (std::size_t i = 0; i < m_choices.size(); ++i) {
            m_choices[i].index = static_cast<std::int32_t>(i);
            m_choices[i].hasLogprobs = m_request.topLogprobs >= 0;
            m_choices[i].hasPromptLogprobs = m_request.promptLogprobs;
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
        m_runs[index].promptTokens = static_cast<std::int32_t>(result->promptIds.size());
        if (m_request.echoes) {
            m_runs[index].promptText = echoText(*result);
        }
        m_runs[index].prepared = std::move(*result);
        if (++m_preparedCount == m_runs.size()) {
            submitAll();
        }
    }

    [[nodiscard]] std::string echoText(const engine::PreparedRequest& prepared) const {
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
                for (ReplyChoice& choice : m_choices) {
                    ReplyChoice first;
                    first.index = choice.index;
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
        const std::size_t index = run * static_cast<std::size_t>(m_request.choices) +
                                  static_cast<std::size_t>(event.choice);
        ReplyChoice& choice = m_choices[index];
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
        take(run, choice, event);
        if (event.finish) {
            choice.finish = std::move(event.finish);
            m_runs[run].promptTokens = choice.finish->usage.promptTokens;
            m_runs[run].cachedTokens = choice.finish->usage.cachedTokens;
            m_completionTokens += m_request.dropsOutput ? 0 : choice.finish->usage.completionTokens;
            if (m_request.isStream) {
                ReplyChoice last;
                last.index = choice.index;
                last.finish = choice.finish;
                sendEvent(chunkJson(m_identity, last));
            }
            if (++m_finishedCount == m_choices.size()) {
                complete();
            }
        }
    }

    // Puts an event's text and log-probabilities where they belong: the stream, or the answer.
    void take(std::size_t run, ReplyChoice& choice, engine::TokenEvent& event) {
        ReplyChoice news;
        news.index = choice.index;
        news.hasLogprobs = choice.hasLogprobs;
        news.textOffset = choice.textOffset;
        const bool isBeginning = !std::exchange(m_hasBegun[choice.index], true);
        if (isBeginning && m_request.echoes) {
            news.text = m_runs[run].promptText;
            if (choice.hasLogprobs) {
                news.logprobs = event.promptLogprobs;
                news.echoed = news.logprobs.size();
            }
        }
        if (!event.promptLogprobs.empty() && m_request.promptLogprobs) {
            news.hasPromptLogprobs = true;
            news.promptLogprobs = event.promptLogprobs;
        }
        if (!m_request.dropsOutput) {
            news.text += event.text;
            std::move(event.logprobs.begin(), event.logprobs.end(),
                      std::back_inserter(news.logprobs));
        }
        for (const auto& logprob : news.logprobs) {
            choice.textOffset += logprob.bytes.size();
        }
        if (!m_request.isStream) {
            choice.text += news.text;
            choice.echoed += news.echoed;
            std::move(news.logprobs.begin(), news.logprobs.end(),
                      std::back_inserter(choice.logprobs));
            if (news.hasPromptLogprobs) {
                choice.promptLogprobs = std::move(news.promptLogprobs);
            }
            choice.completionTokens += static_cast<std::int32_t>(event.tokens.size());
            return;
        }
        choice.completionTokens += static_cast<std::int32_t>(event.tokens.size());
        if (!news.text.empty() || !news.logprobs.empty() || news.hasPromptLogprobs) {
            Json chunk = chunkJson(m_identity, news);
            if (m_request.continuousUsage) {
                chunk["usage"] = usageJson(m_runs[run].promptTokens, m_runs[run].cachedTokens,
                                           choice.completionTokens);
            }
            sendEvent(chunk);
        }
    }

    [[nodiscard]] Json totalUsage() const {
        std::int64_t prompt = 0;
        std::int64_t cached = 0;
        for (const PromptRun& run : m_runs) {
            prompt += run.promptTokens;
            cached += run.cachedTokens;
        }
        return usageJson(prompt, cached, m_completionTokens);
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
            for (ReplyChoice& choice : m_choices) {
                choice.textOffset = 0;
            }
            Json reply = replyJson(m_identity, m_choices, totalUsage());
            if (!m_request.warnings.empty()) {
                reply["warnings"] = Json::array();
                for (const std::string& name : m_request.warnings) {
                    reply["warnings"].push_back("unknown field '" + name + "' was ignored");
                }
            }
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

    void sendEvent(const Json& json) { m_exchange->write("data: " + jsonText(json) + "\n\n"); }

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
    std::vector<ReplyChoice> m_choices;
    std::map<std::int32_t, bool> m_hasBegun;
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
