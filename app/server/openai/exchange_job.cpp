#include "app/server/openai/exchange_job.h"

#include <utility>

namespace quern::app {

namespace {

/// Brings an engine request's events to the exchange's thread.
class PostingSink : public engine::EventSink {
public:
    PostingSink(std::shared_ptr<Exchange> exchange, std::function<void(engine::TokenEvent&)> take)
        : m_exchange(std::move(exchange)), m_take(std::move(take)) {}

    void onEvent(engine::TokenEvent event) override {
        auto shared = std::make_shared<engine::TokenEvent>(std::move(event));
        m_exchange->post([take = m_take, shared] { take(*shared); });
    }

private:
    std::shared_ptr<Exchange> m_exchange;
    std::function<void(engine::TokenEvent&)> m_take;
};

}  // namespace

ExchangeJob::ExchangeJob(std::shared_ptr<Exchange> exchange, engine::Engine& engine,
                         std::function<void(const RequestOutcome&)> done)
    : m_exchange(std::move(exchange)), m_engine(engine), m_done(std::move(done)) {}

std::shared_ptr<const engine::LoadedModel> ExchangeJob::begin(const std::string& name) {
    auto model = m_engine.find(name);
    if (!model) {
        fail(fromEngine(model.error()));
        return nullptr;
    }
    const auto listen = [weak = weak_from_this()](auto work) {
        return [weak, work](auto... given) {
            if (const auto self = weak.lock()) {
                work(*self, given...);
            }
        };
    };
    m_exchange->setClosedHandler(listen([](ExchangeJob& job) {
        if (!job.m_isOver) {
            job.cancelAll();
            job.end(499);  // as proxies note a client that closed its request
        }
    }));
    m_exchange->setEndHandler(listen([](ExchangeJob& job) { job.fail(serverEnding()); }));
    m_exchange->setPressureHandler(
        listen([](ExchangeJob& job, bool isSlow) { job.setPaused(isSlow); }));
    return *model;
}

void ExchangeJob::end(int status) {
    m_isOver = true;
    RequestOutcome result = outcome();
    result.status = status;
    m_done(result);
}

void ExchangeJob::fail(const ApiError& error) {
    if (m_isOver) {
        return;
    }
    cancelAll();
    end(error.status);
    tell(error);
}

std::shared_ptr<engine::EventSink> ExchangeJob::sink(
    std::function<void(engine::TokenEvent&)> take) {
    return std::make_shared<PostingSink>(
        m_exchange, [self = shared_from_this(), take = std::move(take)](engine::TokenEvent& event) {
            if (!self->m_isOver) {
                take(event);
            }
        });
}

void ExchangeJob::prepare(engine::Request request,
                          std::function<void(engine::PreparedRequest&)> take) {
    m_engine.prepareAsync(std::move(request), [self = shared_from_this(), take = std::move(take)](
                                                  Result<engine::PreparedRequest> result) {
        auto shared = std::make_shared<Result<engine::PreparedRequest>>(std::move(result));
        self->m_exchange->post([self, take, shared] {
            if (self->m_isOver) {
                return;
            }
            *shared ? take(**shared) : self->fail(fromEngine(shared->error()));
        });
    });
}

std::optional<ApiError> failureOf(const engine::FinishInfo& finish) {
    switch (finish.reason) {
        case engine::FinishReason::kError:
            return fromEngine(finish.error.value_or(Error{}));
        case engine::FinishReason::kCancelled:
            return fromStatus(503,
                              "the request was cancelled: the model or the server is going away");
        case engine::FinishReason::kDeadline:
            return fromStatus(504, "the request's deadline has passed");
        default:
            return std::nullopt;
    }
}

}  // namespace quern::app
