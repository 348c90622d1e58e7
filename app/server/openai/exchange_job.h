#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/server/http/exchange.h"
#include "app/server/openai/api_error.h"
#include "engine/engine.h"

namespace quern::app {

/// What a request came to, for the audit line.
struct RequestOutcome {
    int status = 200;
    std::string model;
    std::int32_t promptTokens = 0;
    std::int32_t completionTokens = 0;
};

/// An exchange that is answered by requests of the engine: ends once, by its answer, by an error,
/// by the client that goes away, or by the server that does; in all but the first case it cancels
/// what runs. Lives on the exchange's thread and keeps itself alive while the engine has requests
/// of it.
class ExchangeJob : public std::enable_shared_from_this<ExchangeJob> {
public:
    ExchangeJob(std::shared_ptr<Exchange> exchange, engine::Engine& engine,
                std::function<void(const RequestOutcome&)> done);
    virtual ~ExchangeJob() = default;
    ExchangeJob(const ExchangeJob&) = delete;
    ExchangeJob& operator=(const ExchangeJob&) = delete;

protected:
    /// Looks the model up and listens to the exchange. Null: it has failed.
    [[nodiscard]] std::shared_ptr<const engine::LoadedModel> begin(const std::string& model);
    [[nodiscard]] bool isOver() const { return m_isOver; }
    [[nodiscard]] Exchange& exchange() { return *m_exchange; }
    [[nodiscard]] engine::Engine& engine() { return m_engine; }

    /// Ends the job: the audit line comes first, so that whoever has the answer finds it there.
    void end(int status);
    /// Ends the job by telling the error. Nothing when it is over.
    void fail(const ApiError& error);

    /// Cancels all requests that run.
    virtual void cancelAll() = 0;
    /// Stops and resumes all that run, for a client that does not read.
    virtual void setPaused(bool isPaused) = 0;
    [[nodiscard]] virtual RequestOutcome outcome() const = 0;
    /// Writes an error as the answer's end.
    virtual void tell(const ApiError& error) = 0;

    /// An event sink that brings events to `take` on the exchange's thread.
    [[nodiscard]] std::shared_ptr<engine::EventSink> sink(
        std::function<void(engine::TokenEvent&)> take);
    /// Prepares a request aside and brings it to `take` on the exchange's thread; fails the job
    /// with the error of one that cannot be prepared.
    void prepare(engine::Request request, std::function<void(engine::PreparedRequest&)> take);

private:
    std::shared_ptr<Exchange> m_exchange;
    engine::Engine& m_engine;
    std::function<void(const RequestOutcome&)> m_done;
    bool m_isOver = false;
};

/// Why a request ended without its reply; empty when it has one.
[[nodiscard]] std::optional<ApiError> failureOf(const engine::FinishInfo& finish);

}  // namespace quern::app
