#include "engine/metrics/flight_recorder.h"

#include <gtest/gtest.h>

#include "engine/metrics/process_memory.h"

namespace quern::engine {
namespace {

TEST(FlightRecorder, KeepsTheLastStepsInOrder) {
    FlightRecorder recorder(3);
    EXPECT_TRUE(recorder.records().empty());
    for (std::uint32_t step = 1; step <= 5; ++step) {
        recorder.next().step = step;
    }
    const auto records = recorder.records();
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].step, 3U);
    EXPECT_EQ(records[2].step, 5U);
}

TEST(ProcessMemory, GrowsWithWhatIsTouched) {
    const std::int64_t before = residentBytes();
    EXPECT_GT(before, 0);
    const std::vector<char> block(64 << 20, 1);
    EXPECT_GT(residentBytes(), before + (32 << 20));
}

}  // namespace
}  // namespace quern::engine
