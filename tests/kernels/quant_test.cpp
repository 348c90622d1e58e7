#include "kernels/quant.h"

#include <gtest/gtest.h>

namespace quern::kernels {
namespace {

TEST(Quant, NamesRoundTrip) {
    for (int i = 0; i <= static_cast<int>(DType::kNVFP4); ++i) {
        const auto type = static_cast<DType>(i);
        const auto found = dtypeFromName(traits(type).name);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(*found, type);
    }
    EXPECT_EQ(dtypeFromName("q4_k").value(), DType::kQ4_K);
    EXPECT_EQ(dtypeFromName("Q9").error().code, ErrorCode::kInvalidArgument);
}

TEST(Quant, RowBytesRefusesBrokenRows) {
    EXPECT_EQ(rowBytes(DType::kQ4_1, 64).value(), 40);
    EXPECT_FALSE(rowBytes(DType::kQ4_1, 33).has_value());
    EXPECT_FALSE(rowBytes(DType::kF32, std::int64_t{1} << 62).has_value());
    EXPECT_FALSE(rowBytes(DType::kF32, -1).has_value());
}

}  // namespace
}  // namespace quern::kernels
