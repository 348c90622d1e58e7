#include "engine/metrics/histogram.h"

#include <gtest/gtest.h>

namespace quern::engine {
namespace {

TEST(Histogram, AValueOnABoundBelongsBelowIt) {
    const std::vector<double> bounds = {1.0, 2.0};
    Histogram histogram(bounds);
    for (const double value : {0.5, 1.0, 1.5, 2.0, 7.0}) {
        histogram.observe(value);
    }
    EXPECT_EQ(histogram.snapshot().counts, (std::vector<std::uint64_t>{2, 2, 1}));
    EXPECT_DOUBLE_EQ(histogram.snapshot().sum, 12.0);
    EXPECT_EQ(histogram.snapshot().count(), 5U);
}

TEST(Histogram, LengthBucketsEndAtTheContext) {
    EXPECT_EQ(buckets::lengths(256), (std::vector<double>{1, 2, 5, 10, 20, 50, 100, 200}));
    EXPECT_EQ(buckets::lengths(1), (std::vector<double>{1}));
}

TEST(Histogram, BucketsAscend) {
    for (const auto bounds :
         {buckets::timeToFirstToken(), buckets::interToken(), buckets::requestLatency(),
          buckets::stepTokens(), buckets::choices()}) {
        for (std::size_t i = 1; i < bounds.size(); ++i) {
            EXPECT_LT(bounds[i - 1], bounds[i]);
        }
    }
}

}  // namespace
}  // namespace quern::engine
