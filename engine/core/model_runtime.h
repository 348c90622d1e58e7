#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "engine/core/active_request.h"
#include "engine/core/adapter_slots.h"
#include "engine/engine.h"
#include "engine/exec/runner.h"
#include "engine/exec/sampler.h"
#include "engine/kv/kv_manager.h"
#include "engine/metrics/flight_recorder.h"
#include "engine/metrics/model_metrics.h"
#include "engine/sched/scheduler.h"

namespace quern::engine {

/// An event on its way to its sink.
struct Delivery {
    std::shared_ptr<EventSink> sink;
    TokenEvent event;
};

/// A loaded model at work: its requests, scheduler, cache and runner. Belongs to the engine thread.
/// Functions marked [locked] are called under the engine's state lock, which is what snapshots of
/// other threads take; the slow part of a step (run) is not.
class ModelRuntime {
public:
    using Clock = std::chrono::steady_clock;

    struct Config {
        std::shared_ptr<const LoadedModel> model;
        std::unique_ptr<Runner> runner;  // its cache is allocated
        std::vector<KvGroupConfig> groups;
        SchedulerOptions scheduler;
        std::string device;
        std::atomic<std::size_t>* queued = nullptr;  // requests not yet scheduled, engine-wide
    };
    explicit ModelRuntime(Config config);
    ~ModelRuntime();

    [[nodiscard]] const std::shared_ptr<const LoadedModel>& model() const { return m_config.model; }
    [[nodiscard]] bool has(RequestId id) const { return m_requests.contains(id); }
    [[nodiscard]] bool isEmpty() const { return m_requests.empty(); }
    [[nodiscard]] bool hasWork() const { return m_scheduler.hasWork(); }
    [[nodiscard]] std::optional<Clock::time_point> nextDeadline() const;

    /// [locked] Takes a request that passed checkPrepared. False, taking nothing, when its adapter
    /// was unloaded.
    [[nodiscard]] bool submit(RequestId id, PreparedRequest& request,
                              std::shared_ptr<EventSink>& sink);
    /// [locked] Ends every choice of a request that has not ended. Unknown ids are ignored.
    void end(RequestId id, FinishReason reason, const std::optional<Error>& error);
    /// [locked]
    void endAll(FinishReason reason, const std::optional<Error>& error);
    /// [locked]
    void endOverdue(Clock::time_point now);
    /// [locked]
    void setPaused(RequestId id, bool isPaused);
    /// [locked]
    void addAdapter(AdapterHandover adapter) { m_adapters.add(std::move(adapter)); }
    /// [locked] Those that have it go on with it. Unknown ids are ignored.
    void removeAdapter(std::uint64_t id) { m_adapters.remove(id); }
    /// [locked]
    void forgetCached() { m_kv.forgetCached(); }

    /// [locked] Decides the next step; false when there is nothing to run.
    [[nodiscard]] bool plan();
    /// Computes the step and draws its tokens. Changes nothing that snapshots show.
    void run();
    /// [locked] Applies what run() gave.
    void apply();

    /// Appends what is to be delivered, in order.
    void takeDeliveries(std::vector<Delivery>& deliveries);

    /// [locked]
    [[nodiscard]] ModelSnapshot snapshot(Clock::time_point now) const;
    /// [locked] Null when there is no such group.
    [[nodiscard]] const BlockPool* pool(std::int32_t group) const;
    [[nodiscard]] std::uint32_t step() const { return m_scheduler.step(); }
    /// [locked]
    [[nodiscard]] std::vector<StepRecord> flightRecords() const { return m_recorder.records(); }

private:
    using Active = ActiveRequest;
    using Choice = ActiveRequest::Choice;
    /// A token that was drawn in this step.
    struct Drawn {
        Active* request = nullptr;
        std::int32_t choice = 0;
        SampledToken token;
    };

    /// A row of results that is what a request wants.
    struct Pooled {
        Active* request = nullptr;
        std::vector<float> vector;
    };

    [[nodiscard]] Active* find(SequenceId sequence) const;
    void noteAdmissions(Clock::time_point now);
    void endUnservable();
    void leaveQueue(Active& request);
    void sampleRow(std::size_t row, std::span<float> logits);
    void takeVector(std::size_t row, std::span<const float> results);
    void draw(Active& request, std::int32_t choice, std::span<float> logits);
    [[nodiscard]] TokenLogprob promptLogprob(const Active& request, std::span<const float> logits,
                                             TokenId token) const;
    void failStep(const Error& error);
    void accept(const Drawn& drawn, Clock::time_point now);
    void accept(Pooled& pooled, Clock::time_point now);
    void noteTiming(Active& request, Choice& choice, Clock::time_point now);
    void finishChoice(Active& request, std::int32_t choice, FinishInfo info, TokenEvent event);
    void eraseIfFinished(Active& request);
    void deliver(const Active& request, TokenEvent event);
    void fillBytes(TokenLogprob& logprob) const;
    void record(Clock::time_point end);

    Config m_config;
    KvManager m_kv;
    Scheduler m_scheduler;
    AdapterSlots m_adapters;
    Sampler m_sampler;
    ModelMetrics m_metrics;
    FlightRecorder m_recorder;
    std::int64_t m_weightBytes = 0;
    std::int64_t m_scratchBytes = 0;
    std::int64_t m_kvBytes = 0;
    std::vector<TokenId> m_padding;  // ids the tokenizer does not have: never drawn

    std::map<RequestId, std::unique_ptr<Active>> m_requests;
    std::set<std::pair<Clock::time_point, RequestId>> m_deadlines;
    std::uint8_t m_nextColor = 0;
    Clock::time_point m_lastUsed;

    // One step.
    BatchPlan m_plan;
    Clock::time_point m_planBegin;
    Clock::time_point m_runBegin;
    Clock::time_point m_runEnd;
    std::uint64_t m_evictionsBefore = 0;
    std::optional<Error> m_failure;
    std::vector<Drawn> m_drawn;
    std::vector<Pooled> m_pooled;
    std::vector<RequestId> m_broken;  // whose results are no numbers
    std::vector<float> m_row;         // a copy of the logits while several choices draw from them
    std::vector<Delivery> m_deliveries;
};

}  // namespace quern::engine
