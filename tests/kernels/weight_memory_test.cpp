#include "kernels/cpu/weight_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace quern::kernels::cpu {
namespace {

TEST(WeightMemory, PiecesAreAlignedZeroedAndApart) {
    WeightMemory memory;
    std::vector<std::span<std::byte>> pieces;
    std::int64_t total = 0;
    for (const std::int64_t bytes : {0, 1, 63, 64, 65, 1 << 20, 40 << 20, 3, 15 << 20}) {
        const auto piece = memory.allocate(bytes);
        ASSERT_TRUE(piece.has_value());
        ASSERT_EQ(static_cast<std::int64_t>(piece->size()), bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece->data()) % 64, 0U);
        EXPECT_TRUE(std::ranges::all_of(*piece, [](std::byte b) { return b == std::byte{0}; }));
        std::ranges::fill(*piece, static_cast<std::byte>(pieces.size() + 1));
        pieces.push_back(*piece);
        total += bytes;
    }
    EXPECT_EQ(memory.bytes(), total);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        EXPECT_TRUE(std::ranges::all_of(
            pieces[i], [&](std::byte b) { return b == static_cast<std::byte>(i + 1); }));
    }
}

TEST(WeightMemory, SaysWhatItCannotGive) {
    WeightMemory memory;
    for (const std::int64_t bytes :
         {std::int64_t{1} << 50, std::int64_t{1} << 62, std::int64_t{-1}}) {
        const auto piece = memory.allocate(bytes);
        ASSERT_FALSE(piece.has_value());
        EXPECT_EQ(piece.error().code, ErrorCode::kOutOfMemory);
        EXPECT_NE(piece.error().message.find(std::to_string(bytes)), std::string::npos);
    }
    EXPECT_EQ(memory.bytes(), 0);
}

}  // namespace
}  // namespace quern::kernels::cpu
