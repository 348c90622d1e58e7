#include "engine/embed.h"

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace quern::engine {

namespace {

/// Collects the vectors of requests that run. Internally locked.
class VectorSinks {
public:
    explicit VectorSinks(std::size_t count) : m_replies(count), m_missing(count) {}

    void take(std::size_t index, TokenEvent& event) {
        const std::lock_guard lock(m_mutex);
        if (event.finish->reason != FinishReason::kStop && !m_error) {
            m_error = event.finish->error.value_or(
                Error{.code = ErrorCode::kCancelled, .message = "the request was cancelled"});
        }
        m_replies[index] = {.vector = std::move(event.vector),
                            .promptTokens = event.finish->usage.promptTokens};
        if (--m_missing == 0) {
            m_isDone.notify_all();
        }
    }
    /// A request that never ran.
    void drop() {
        const std::lock_guard lock(m_mutex);
        --m_missing;
    }
    [[nodiscard]] Result<std::vector<VectorReply>> wait() {
        std::unique_lock lock(m_mutex);
        m_isDone.wait(lock, [this] { return m_missing == 0; });
        if (m_error) {
            return tl::unexpected<Error>(*m_error);
        }
        return std::move(m_replies);
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_isDone;
    std::vector<VectorReply> m_replies;
    std::optional<Error> m_error;
    std::size_t m_missing;
};

class OneSink final : public EventSink {
public:
    OneSink(std::shared_ptr<VectorSinks> all, std::size_t index)
        : m_all(std::move(all)), m_index(index) {}
    void onEvent(TokenEvent event) override {
        if (event.finish) {
            m_all->take(m_index, event);
        }
    }

private:
    std::shared_ptr<VectorSinks> m_all;
    std::size_t m_index;
};

}  // namespace

Result<std::vector<VectorReply>> embedAll(Engine& engine, std::vector<Request> requests) {
    std::vector<PreparedRequest> prepared;
    for (Request& request : requests) {
        auto one = engine.prepare(std::move(request));
        if (!one) {
            return forward(one);
        }
        prepared.push_back(std::move(*one));
    }
    const auto sinks = std::make_shared<VectorSinks>(prepared.size());
    std::vector<RequestId> ids;
    std::optional<Error> error;
    for (std::size_t i = 0; i < prepared.size(); ++i) {
        auto id = error
                      ? Result<RequestId>(tl::unexpected<Error>(*error))
                      : engine.submit(std::move(prepared[i]), std::make_shared<OneSink>(sinks, i));
        if (id) {
            ids.push_back(*id);
            continue;
        }
        if (!error) {
            error = id.error();
            for (const RequestId running : ids) {
                engine.cancel(running);
            }
        }
        sinks->drop();
    }
    auto replies = sinks->wait();
    return error ? Result<std::vector<VectorReply>>(tl::unexpected<Error>(*error))
                 : std::move(replies);
}

float scoreAsProbability(float score) {
    return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(score))));
}

}  // namespace quern::engine
