#include "engine/metrics/model_metrics.h"

namespace quern::engine {

ModelMetrics::ModelMetrics(std::int64_t contextTokens)
    : m_ttft(buckets::timeToFirstToken()),
      m_interToken(buckets::interToken()),
      m_e2e(buckets::requestLatency()),
      m_queue(buckets::requestLatency()),
      m_prefill(buckets::requestLatency()),
      m_decode(buckets::requestLatency()),
      m_inference(buckets::requestLatency()),
      m_promptLength(buckets::lengths(contextTokens)),
      m_generationLength(buckets::lengths(contextTokens)),
      m_choices(buckets::choices()),
      m_maxTokens(buckets::lengths(contextTokens)),
      m_stepTokens(buckets::stepTokens()) {}

void ModelMetrics::noteScheduled(Clock::time_point now, std::int64_t promptTokens,
                                 std::int64_t cachedTokens, double queueSeconds) {
    m_promptTokens += count(promptTokens);
    m_queriedTokens += count(promptTokens);
    m_hitTokens += count(cachedTokens);
    m_queue.observe(queueSeconds);
    m_promptLength.observe(static_cast<double>(promptTokens));
    m_rates.notePrefixQuery(now, promptTokens, cachedTokens);
}

void ModelMetrics::noteFirstToken(Clock::time_point now, double ttftSeconds) {
    m_ttft.observe(ttftSeconds);
    m_rates.noteFirstToken(now, ttftSeconds);
}

void ModelMetrics::noteInterToken(Clock::time_point now, double seconds) {
    m_interToken.observe(seconds);
    m_rates.noteInterToken(now, seconds);
}

void ModelMetrics::noteStep(Clock::time_point begin, Clock::time_point end,
                            std::int64_t prefillTokens, std::int64_t decodeTokens) {
    ++m_steps;
    m_stepTokens.observe(static_cast<double>(prefillTokens + decodeTokens));
    m_rates.noteStep(begin, end, prefillTokens, decodeTokens);
}

void ModelMetrics::noteFinished(FinishReason reason, const Usage& usage, double e2eSeconds) {
    ++m_finished[static_cast<std::size_t>(reason)];
    m_e2e.observe(e2eSeconds);
    if (usage.completionTokens > 0) {
        m_prefill.observe(usage.prefillSeconds);
        m_decode.observe(usage.decodeSeconds);
        m_inference.observe(usage.prefillSeconds + usage.decodeSeconds);
        m_generationLength.observe(usage.completionTokens);
    }
}

void ModelMetrics::noteRequest(std::int32_t choices, std::int32_t maxTokens) {
    m_choices.observe(choices);
    m_maxTokens.observe(maxTokens);
}

ModelCounters ModelMetrics::counters() const {
    return ModelCounters{.promptTokens = m_promptTokens,
                         .generationTokens = m_generationTokens,
                         .prefixCacheQueries = m_queriedTokens,
                         .prefixCacheHits = m_hitTokens,
                         .promptTokensCached = m_hitTokens,
                         .preemptions = m_preemptions,
                         .finished = m_finished,
                         .steps = m_steps,
                         .evictions = 0,
                         .ttft = m_ttft.snapshot(),
                         .interToken = m_interToken.snapshot(),
                         .e2e = m_e2e.snapshot(),
                         .queueTime = m_queue.snapshot(),
                         .prefillTime = m_prefill.snapshot(),
                         .decodeTime = m_decode.snapshot(),
                         .inferenceTime = m_inference.snapshot(),
                         .promptLength = m_promptLength.snapshot(),
                         .generationLength = m_generationLength.snapshot(),
                         .requestChoices = m_choices.snapshot(),
                         .requestMaxTokens = m_maxTokens.snapshot(),
                         .stepTokens = m_stepTokens.snapshot()};
}

}  // namespace quern::engine
