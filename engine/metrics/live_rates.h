#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/snapshot.h"

namespace quern::engine {

/// Counts of durations over the last minute, second by second, in classes a quarter of a doubling
/// wide: a quantile is off by 19 % at most. Belongs to one thread at a time.
class RecentDurations {
public:
    using Clock = std::chrono::steady_clock;
    void observe(Clock::time_point now, double seconds);
    /// In seconds; 0 when there was none.
    [[nodiscard]] double quantile(Clock::time_point now, double q) const;

private:
    static constexpr std::size_t kClasses = 96;  // 0.05 ms … 10 minutes
    static constexpr std::size_t kSeconds = 60;
    struct Second {
        std::int64_t when = -1;
        std::array<std::uint32_t, kClasses> counts{};
    };
    std::array<Second, kSeconds> m_seconds;
};

/// Figures of the last moments, for live display. Belongs to one thread at a time.
class LiveRateMeter {
public:
    using Clock = std::chrono::steady_clock;
    LiveRateMeter();

    void noteStep(Clock::time_point begin, Clock::time_point end, std::int64_t prefillTokens,
                  std::int64_t decodeTokens);
    void noteFirstToken(Clock::time_point now, double ttftSeconds);
    void noteInterToken(Clock::time_point now, double seconds);
    void notePrefixQuery(Clock::time_point now, std::int64_t queried, std::int64_t hit);
    [[nodiscard]] LiveRates rates(Clock::time_point now) const;

private:
    struct Step {
        Clock::time_point begin;
        Clock::time_point end;
        std::int64_t prefillTokens = 0;
        std::int64_t decodeTokens = 0;
    };
    struct PrefixSecond {
        std::int64_t when = -1;
        std::int64_t queried = 0;
        std::int64_t hit = 0;
    };

    std::vector<Step> m_steps;  // ring
    std::size_t m_nextStep = 0;
    RecentDurations m_firstToken;
    RecentDurations m_interToken;
    std::array<PrefixSecond, 60> m_prefix;
};

}  // namespace quern::engine
