#include "app/server/openai/vector_job.h"

#include <chrono>
#include <set>
#include <utility>

#include "app/server/openai/random_id.h"
#include "app/server/openai/reply_json.h"

namespace quern::app {

namespace {

// Texts of one request that wait or run at the same time: the queue is for others too.
constexpr std::size_t kAtOnce = 128;

class VectorJob : public ExchangeJob {
public:
    VectorJob(std::shared_ptr<Exchange> exchange, engine::Engine& engine, VectorKind kind,
              VectorRequest request, std::function<void(const RequestOutcome&)> done)
        : ExchangeJob(std::move(exchange), engine, std::move(done)),
          m_kind(kind),
          m_request(std::move(request)),
          m_replies(m_request.requests.size()),
          m_missing(m_replies.size()) {}

    void start() {
        const auto model = begin(m_request.model);
        if (model == nullptr) {
            return;
        }
        m_model = m_request.model.empty() ? model->name : m_request.model;
        for (std::size_t i = 0; i < kAtOnce && !isOver(); ++i) {
            startNext();
        }
    }

private:
    void startNext() {
        if (m_next == m_request.requests.size()) {
            return;
        }
        const std::size_t index = m_next++;
        prepare(std::move(m_request.requests[index]),
                [this, index](engine::PreparedRequest& prepared) { submit(index, prepared); });
    }

    void submit(std::size_t index, engine::PreparedRequest& prepared) {
        auto id = engine().submit(std::move(prepared), sink([this, index](auto& event) {
                                      if (event.finish) {
                                          onFinished(index, event);
                                      }
                                  }));
        if (!id) {
            fail(fromEngine(id.error()));
            return;
        }
        m_running.emplace(*id);
    }

    void onFinished(std::size_t index, engine::TokenEvent& event) {
        m_running.erase(event.request);
        if (const auto failure = failureOf(*event.finish)) {
            fail(*failure);
            return;
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

    void complete() {
        end(200);
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
        exchange().respond({.status = 200,
                            .contentType = "application/json",
                            .body = jsonText(reply),
                            .headers = {}});
    }

    void tell(const ApiError& error) override { exchange().respond(errorResponse(error)); }

    void cancelAll() override {
        for (const engine::RequestId id : m_running) {
            engine().cancel(id);
        }
    }

    // One answer at the end leaves nothing unread on the way.
    void setPaused(bool) override {}

    RequestOutcome outcome() const override {
        return {.model = m_model, .promptTokens = m_promptTokens};
    }

    VectorKind m_kind;
    VectorRequest m_request;
    std::string m_model;
    std::vector<engine::VectorReply> m_replies;
    std::set<engine::RequestId> m_running;
    std::size_t m_next = 0;  // the first that was not started
    std::size_t m_missing;
    std::int32_t m_promptTokens = 0;
};

}  // namespace

void startVectors(std::shared_ptr<Exchange> exchange, engine::Engine& engine, VectorKind kind,
                  VectorRequest request, std::function<void(const RequestOutcome&)> done) {
    std::make_shared<VectorJob>(std::move(exchange), engine, kind, std::move(request),
                                std::move(done))
        ->start();
}

}  // namespace quern::app
