#include "engine/formats/tensor_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace quern::engine {
namespace {

using kernels::DType;
using kernels::TensorView;

// Rows [first, first + 2) of a matrix [4, 8] of bytes that begins at `data`.
TensorView twoRows(const std::byte* data, std::int64_t first) {
    const TensorView all{
        .type = DType::kI8, .shape = {.dims = {4, 8, 1, 1}, .rank = 2}, .data = data};
    return rowSlice(all, first, 2);
}

TEST(TensorTable, MemoryIsFreedWithTheLastOfItsViews) {
    TensorTable table;
    const auto first = table.allocate(32);
    const auto second = table.allocate(32);
    EXPECT_EQ(table.allocatedBytes(), 64);
    const std::vector<std::byte> elsewhere(32);
    table.release(twoRows(elsewhere.data(), 0));
    table.release(twoRows(first.data(), 2));
    EXPECT_EQ(table.allocatedBytes(), 64) << "half of the first is still used";
    table.release(twoRows(first.data(), 0));
    EXPECT_EQ(table.allocatedBytes(), 32);
    std::memset(second.data(), 1, second.size());
    table.release(twoRows(second.data(), 0));
    table.release(twoRows(second.data(), 2));
    EXPECT_EQ(table.allocatedBytes(), 0);
}

TEST(TensorTable, NothingIsHeldForNothing) {
    TensorTable table;
    EXPECT_TRUE(table.allocate(0).empty());
    EXPECT_EQ(table.allocatedBytes(), 0);
}

}  // namespace
}  // namespace quern::engine
