#include "engine/metrics/live_rates.h"

#include <algorithm>
#include <cmath>

namespace quern::engine {

namespace {

constexpr double kShortest = 5e-5;
constexpr double kClassesPerDoubling = 4.0;
// Steps of the smallest models take under a millisecond; this many cover two seconds of them.
constexpr std::size_t kStepRing = 4096;
constexpr std::chrono::seconds kRateWindow{2};

std::int64_t secondOf(std::chrono::steady_clock::time_point now) {
    return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

std::size_t slotOf(std::int64_t second) {
    return static_cast<std::size_t>(second) % 60;
}

}  // namespace

void RecentDurations::observe(Clock::time_point now, double seconds) {
    const std::int64_t when = secondOf(now);
    Second& second = m_seconds[slotOf(when)];
    if (second.when != when) {
        second = Second{.when = when, .counts = {}};
    }
    const double doublings = std::log2(std::max(seconds, kShortest) / kShortest);
    const auto index = static_cast<std::size_t>(doublings * kClassesPerDoubling);
    ++second.counts[std::min(index, kClasses - 1)];
}

double RecentDurations::quantile(Clock::time_point now, double q) const {
    const std::int64_t oldest = secondOf(now) - static_cast<std::int64_t>(kSeconds) + 1;
    std::array<std::uint64_t, kClasses> counts{};
    std::uint64_t total = 0;
    for (const Second& second : m_seconds) {
        if (second.when < oldest) {
            continue;
        }
        for (std::size_t i = 0; i < kClasses; ++i) {
            counts[i] += second.counts[i];
            total += second.counts[i];
        }
    }
    if (total == 0) {
        return 0.0;
    }
    const double rank = q * static_cast<double>(total);
    double below = 0.0;
    std::size_t i = 0;
    while (i + 1 < kClasses && below + static_cast<double>(counts[i]) < rank) {
        below += static_cast<double>(counts[i]);
        ++i;
    }
    const double share = counts[i] == 0 ? 0.0 : (rank - below) / static_cast<double>(counts[i]);
    return kShortest * std::exp2((static_cast<double>(i) + share) / kClassesPerDoubling);
}

LiveRateMeter::LiveRateMeter() : m_steps(kStepRing) {}

void LiveRateMeter::noteStep(Clock::time_point begin, Clock::time_point end,
                             std::int64_t prefillTokens, std::int64_t decodeTokens) {
    m_steps[m_nextStep] = Step{
        .begin = begin, .end = end, .prefillTokens = prefillTokens, .decodeTokens = decodeTokens};
    m_nextStep = (m_nextStep + 1) % m_steps.size();
}

void LiveRateMeter::noteFirstToken(Clock::time_point now, double ttftSeconds) {
    m_firstToken.observe(now, ttftSeconds);
}

void LiveRateMeter::noteInterToken(Clock::time_point now, double seconds) {
    m_interToken.observe(now, seconds);
}

void LiveRateMeter::notePrefixQuery(Clock::time_point now, std::int64_t queried, std::int64_t hit) {
    const std::int64_t when = secondOf(now);
    PrefixSecond& second = m_prefix[slotOf(when)];
    if (second.when != when) {
        second = PrefixSecond{.when = when};
    }
    second.queried += queried;
    second.hit += hit;
}

LiveRates LiveRateMeter::rates(Clock::time_point now) const {
    LiveRates rates;
    const Clock::time_point start = now - kRateWindow;
    std::int64_t prefill = 0;
    std::int64_t decode = 0;
    // A meter that has just begun to turn is not diluted by the silence before.
    Clock::time_point first = now;
    for (const Step& step : m_steps) {
        if (step.end > start && step.end <= now) {
            prefill += step.prefillTokens;
            decode += step.decodeTokens;
            first = std::min(first, std::max(step.begin, start));
        }
    }
    const double seconds = std::chrono::duration<double>(now - first).count();
    if (seconds > 0.0) {
        rates.prefillTokensPerSecond = static_cast<double>(prefill) / seconds;
        rates.decodeTokensPerSecond = static_cast<double>(decode) / seconds;
    }
    rates.ttftP95Ms = 1e3 * m_firstToken.quantile(now, 0.95);
    rates.itlP95Ms = 1e3 * m_interToken.quantile(now, 0.95);
    std::int64_t queried = 0;
    std::int64_t hit = 0;
    for (const PrefixSecond& second : m_prefix) {
        if (second.when > secondOf(now) - 60) {
            queried += second.queried;
            hit += second.hit;
        }
    }
    rates.prefixHitRate =
        queried == 0 ? 0.0 : static_cast<double>(hit) / static_cast<double>(queried);
    return rates;
}

}  // namespace quern::engine
