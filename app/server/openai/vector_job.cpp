#include "app/server/openai/vector_job.h"

#include <chrono>
#include <random>
#include <set>
#include <utility>

#include "app/server/openai/reply_json.h"

namespace quern::app {

namespace {

// Texts of one request that wait or run at the same time: the queue is for others too.
constexpr std::size_t kAtOnce = 128;

std::string randomId(const char* prefix) {
    std::random_device random;
    return prefix + std::to_string(random()) + std::to_string(random());
}

class VectorJob : public std::enable_shared_from_this<VectorJob> {
public:
    VectorJob(std::shared_ptr<Exchange> exchange, engine::Engine& engine, VectorKind kind,
              VectorRequest request, std::function<void(const GenerationOutcome&)> done)
        : m_exchange(std::move(exchange)),
          m_engine(engine),
          m_kind(kind),
          m_request(std::move(request)),
          m_done(std::move(done)),
          m_replies(m_request.requests.size()),
          m_missing(m_replies.size()) {}

    void start() {
        auto model = m_engine.find(m_request.model);
        if (!model) {
            fail(fromEngine(model.error()));
            return;
        }
        m_model = (*model)->name;
        m_exchange->setClosedHandler([weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->onClientGone();
            }
        });
        for (std::size_t i = 0; i < kAtOnce && !m_isOver; ++i) {
            startNext();
        }
    }

private:
    /// Brings the end of an engine request to the exchange's thread.
    class Sink : public engine::EventSink {
    public:
        Sink(std::shared_ptr<VectorJob> job, std::size_t index)
            : m_job(std::move(job)), m_index(index) {}
        void onEvent(engine::TokenEvent event) override {
            if (!event.finish) {
                return;
            }
            auto shared = std::make_shared<engine::TokenEvent>(std::move(event));
            m_job->m_exchange->post(
                [job = m_job, index = m_index, shared] { job->onFinished(index, *shared); });
        }

    private:
        std::shared_ptr<VectorJob> m_job;
        std::size_t m_index;
    };

    void startNext() {
        if (m_next == m_request.requests.size()) {
            return;
        }
        const std::size_t index = m_next++;
        m_engine.prepareAsync(
            std::move(m_request.requests[index]),
            [self = shared_from_this(), index](Result<engine::PreparedRequest> result) {
                auto shared = std::make_shared<Result<engine::PreparedRequest>>(std::move(result));
                self->m_exchange->post([self, index, shared] { self->onPrepared(index, *shared); });
            });
    }

    void onPrepared(std::size_t index, Result<engine::PreparedRequest>& result) {
        if (m_isOver) {
            return;
        }
        if (!result) {
            fail(fromEngine(result.error()));
            return;
        }
        auto id =
            m_engine.submit(std::move(*result), std::make_shared<Sink>(shared_from_this(), index));
        if (!id) {
            fail(fromEngine(id.error()));
            return;
        }
        m_running.emplace(*id);
    }

    void onFinished(std::size_t index, engine::TokenEvent& event) {
        m_running.erase(event.request);
        if (m_isOver) {
            return;
        }
        switch (event.finish->reason) {
            case engine::FinishReason::kError:
                fail(fromEngine(event.finish->error.value_or(Error{})));
                return;
            case engine::FinishReason::kCancelled:
                fail(fromStatus(
                    503, "the request was cancelled: the model or the server is going away"));
                return;
            case engine::FinishReason::kDeadline:
                fail(fromStatus(504, "the request's deadline has passed"));
                return;
            default:
                break;
        }
        m_replies[index] = {.vector = std::move(event.vector),
                            .promptTokens = event.finish->usage.promptTokens};
        m_promptTokens += event.finish->usage.promptTokens;
        if (--m_missing == 0) {
            complete();
        } else {
            startNext();
        }
    }

    // The audit line comes first: whoever has the answer finds it there.
    void complete() {
        m_isOver = true;
        report(200);
        Json reply = m_request.answer(m_replies);
        reply["model"] = m_model;
        if (m_kind != VectorKind::kEmbeddings) {
            reply["id"] = randomId(m_kind == VectorKind::kRerank ? "rerank-" : "score-");
            reply["created"] = std::chrono::duration_cast<std::chrono::seconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count();
        }
        for (const std::string& name : m_request.warnings) {
            reply["warnings"].push_back("unknown field '" + name + "' was ignored");
        }
        m_exchange->respond({.status = 200,
                             .contentType = "application/json",
                             .body = jsonText(reply),
                             .headers = {}});
    }

    void fail(const ApiError& error) {
        if (m_isOver) {
            return;
        }
        m_isOver = true;
        cancelAll();
        report(error.status);
        m_exchange->respond(errorResponse(error));
    }

    void onClientGone() {
        if (!m_isOver) {
            m_isOver = true;
            cancelAll();
            report(499);  // as proxies note a client that closed its request
        }
    }

    void cancelAll() {
        for (const engine::RequestId id : m_running) {
            m_engine.cancel(id);
        }
    }

    void report(int status) {
        m_done({.status = status, .model = m_model, .promptTokens = m_promptTokens});
    }

    std::shared_ptr<Exchange> m_exchange;
    engine::Engine& m_engine;
    VectorKind m_kind;
    VectorRequest m_request;
    std::function<void(const GenerationOutcome&)> m_done;
    std::string m_model;
    std::vector<engine::VectorReply> m_replies;
    std::set<engine::RequestId> m_running;
    std::size_t m_next = 0;  // the first that was not started
    std::size_t m_missing;
    std::int32_t m_promptTokens = 0;
    bool m_isOver = false;
};

}  // namespace

void startVectors(std::shared_ptr<Exchange> exchange, engine::Engine& engine, VectorKind kind,
                  VectorRequest request, std::function<void(const GenerationOutcome&)> done) {
    std::make_shared<VectorJob>(std::move(exchange), engine, kind, std::move(request),
                                std::move(done))
        ->start();
}

}  // namespace quern::app
