#pragma once

#include <chrono>
#include <cstdint>

#include "engine/metrics/histogram.h"
#include "engine/metrics/live_rates.h"
#include "engine/request.h"
#include "engine/snapshot.h"

namespace quern::engine {

/// Counters, histograms and live figures of one model. Belongs to one thread at a time.
class ModelMetrics {
public:
    using Clock = std::chrono::steady_clock;

    explicit ModelMetrics(std::int64_t contextTokens);

    /// A request's prompt was looked up in the prefix cache: once a request.
    void noteScheduled(Clock::time_point now, std::int64_t promptTokens, std::int64_t cachedTokens,
                       double queueSeconds);
    void noteFirstToken(Clock::time_point now, double ttftSeconds);
    void noteInterToken(Clock::time_point now, double seconds);
    void noteGenerated(std::int64_t tokens) { m_generationTokens += count(tokens); }
    void noteStep(Clock::time_point begin, Clock::time_point end, std::int64_t prefillTokens,
                  std::int64_t decodeTokens);
    void notePreemptions(std::size_t preemptions) { m_preemptions += preemptions; }
    /// A choice has ended.
    void noteFinished(FinishReason reason, const Usage& usage, double e2eSeconds);
    /// A request was accepted.
    void noteRequest(std::int32_t choices, std::int32_t maxTokens);

    [[nodiscard]] ModelCounters counters() const;
    [[nodiscard]] LiveRates rates(Clock::time_point now) const { return m_rates.rates(now); }

private:
    [[nodiscard]] static std::uint64_t count(std::int64_t tokens) {
        return static_cast<std::uint64_t>(tokens);
    }

    std::uint64_t m_promptTokens = 0;
    std::uint64_t m_generationTokens = 0;
    std::uint64_t m_queriedTokens = 0;
    std::uint64_t m_hitTokens = 0;
    std::uint64_t m_preemptions = 0;
    std::uint64_t m_steps = 0;
    std::array<std::uint64_t, 6> m_finished{};
    Histogram m_ttft;
    Histogram m_interToken;
    Histogram m_e2e;
    Histogram m_queue;
    Histogram m_prefill;
    Histogram m_decode;
    Histogram m_inference;
    Histogram m_promptLength;
    Histogram m_generationLength;
    Histogram m_choices;
    Histogram m_maxTokens;
    Histogram m_stepTokens;
    LiveRateMeter m_rates;
};

}  // namespace quern::engine
