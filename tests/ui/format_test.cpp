#include "ui/text/format.h"

#include <gtest/gtest.h>

#include <cmath>

namespace quern::ui {
namespace {

TEST(Format, CountsAreGroupedWithANarrowSpace) {
    EXPECT_EQ(formatCount(0), QStringLiteral("0"));
    EXPECT_EQ(formatCount(999), QStringLiteral("999"));
    EXPECT_EQ(formatCount(1284), QStringLiteral("1\u202F284"));
    EXPECT_EQ(formatCount(-1234567), QStringLiteral("-1\u202F234\u202F567"));
    EXPECT_EQ(formatCount(-123), QStringLiteral("-123"));
}

TEST(Format, RatesHaveThreeDigitsAtMost) {
    EXPECT_EQ(formatRate(0), QStringLiteral("0"));
    EXPECT_EQ(formatRate(0.523), QStringLiteral("0.52"));
    EXPECT_EQ(formatRate(42.34), QStringLiteral("42.3"));
    EXPECT_EQ(formatRate(99.96), QStringLiteral("100"));
    EXPECT_EQ(formatRate(std::nan("")), QStringLiteral("0.00"));
}

TEST(Format, BytesTakeTheUnitThatReadsBest) {
    EXPECT_EQ(formatBytes(512), QStringLiteral("512\u00A0B"));
    EXPECT_EQ(formatBytes(96LL << 20), QStringLiteral("96\u00A0MiB"));
    EXPECT_EQ(formatBytes(4LL << 30), QStringLiteral("4.0\u00A0GiB"));
    EXPECT_EQ(formatBytes(1000LL << 20), QStringLiteral("1.0\u00A0GiB"));
}

TEST(Format, ParametersReadAsPeopleSayThem) {
    EXPECT_EQ(formatParameters(134515008), QStringLiteral("135\u00A0M"));
    EXPECT_EQ(formatParameters(8190000000), QStringLiteral("8.2\u00A0B"));
    EXPECT_EQ(formatParameters(999600000), QStringLiteral("1.0\u00A0B"));
}

TEST(Format, MillisecondsBecomeSeconds) {
    EXPECT_EQ(formatMilliseconds(18.4), QStringLiteral("18.4\u00A0ms"));
    EXPECT_EQ(formatMilliseconds(212), QStringLiteral("212\u00A0ms"));
    EXPECT_EQ(formatMilliseconds(12500), QStringLiteral("12.5\u00A0s"));
}

}  // namespace
}  // namespace quern::ui
