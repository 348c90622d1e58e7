#include "engine/metrics/live_rates.h"

#include <gtest/gtest.h>

namespace quern::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Time = std::chrono::steady_clock::time_point;

TEST(LiveRates, AreZeroBeforeAnythingHappened) {
    const LiveRates rates = LiveRateMeter().rates(Time(seconds(1000)));
    EXPECT_EQ(rates.decodeTokensPerSecond, 0.0);
    EXPECT_EQ(rates.ttftP95Ms, 0.0);
    EXPECT_EQ(rates.prefixHitRate, 0.0);
}

TEST(LiveRates, CountTokensOfTheLastTwoSeconds) {
    LiveRateMeter meter;
    Time now(seconds(1000));
    for (int step = 0; step < 100; ++step) {  // ten seconds at 40 and 10 tokens a second
        meter.noteStep(now, now + milliseconds(100), 1, 4);
        now += milliseconds(100);
    }
    EXPECT_NEAR(meter.rates(now).decodeTokensPerSecond, 40.0, 0.01);
    EXPECT_NEAR(meter.rates(now).prefillTokensPerSecond, 10.0, 0.01);
    EXPECT_EQ(meter.rates(now + seconds(3)).decodeTokensPerSecond, 0.0);
}

TEST(LiveRates, AFreshStartIsNotDiluted) {
    LiveRateMeter meter;
    const Time now(seconds(1000));
    meter.noteStep(now, now + milliseconds(100), 0, 5);
    EXPECT_NEAR(meter.rates(now + milliseconds(100)).decodeTokensPerSecond, 50.0, 0.01);
}

TEST(LiveRates, QuantilesForgetAfterAMinute) {
    LiveRateMeter meter;
    const Time now(seconds(1000));
    for (int i = 1; i <= 100; ++i) {
        meter.noteInterToken(now, 0.001 * i);
    }
    EXPECT_NEAR(meter.rates(now).itlP95Ms, 95.0, 95.0 * 0.2);
    meter.noteFirstToken(now, 0.25);
    EXPECT_NEAR(meter.rates(now).ttftP95Ms, 250.0, 250.0 * 0.2);
    EXPECT_EQ(meter.rates(now + seconds(61)).itlP95Ms, 0.0);
}

TEST(LiveRates, PrefixHitsAreAShareOfWhatWasAsked) {
    LiveRateMeter meter;
    const Time now(seconds(1000));
    meter.notePrefixQuery(now, 100, 0);
    meter.notePrefixQuery(now + seconds(1), 100, 96);
    EXPECT_NEAR(meter.rates(now + seconds(1)).prefixHitRate, 0.48, 1e-9);
    EXPECT_NEAR(meter.rates(now + seconds(60)).prefixHitRate, 0.96, 1e-9);
}

}  // namespace
}  // namespace quern::engine
