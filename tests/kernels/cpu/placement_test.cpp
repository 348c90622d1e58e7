#include "kernels/cpu/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace quern::kernels::cpu {
namespace {

bool meet(const Lifetime& a, const Lifetime& b) {
    return a.first <= b.last && b.first <= a.last;
}

TEST(Placement, NothingThatLivesTogetherOverlaps) {
    constexpr std::int64_t kAlignment = 16;
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        std::vector<Lifetime> lives;
        for (int i = 0; i < 60; ++i) {
            const auto first = static_cast<std::int32_t>(random() % 30);
            lives.push_back({.size = static_cast<std::int64_t>(random() % 200),
                             .first = first,
                             .last = first + static_cast<std::int32_t>(random() % 6)});
        }
        const Placement placement = placeScratch(lives, kAlignment);
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < lives.size(); ++i) {
            sum += lives[i].size + kAlignment;
            EXPECT_EQ(placement.offsets[i] % kAlignment, 0);
            EXPECT_LE(placement.offsets[i] + lives[i].size, placement.total);
            for (std::size_t j = 0; j < i; ++j) {
                const bool isApart = placement.offsets[i] + lives[i].size <= placement.offsets[j] ||
                                     placement.offsets[j] + lives[j].size <= placement.offsets[i] ||
                                     lives[i].size == 0 || lives[j].size == 0;
                EXPECT_TRUE(isApart || !meet(lives[i], lives[j]));
            }
        }
        EXPECT_LT(placement.total, sum / 2);
    }
}

TEST(Placement, AChainNeedsTwoPieces) {
    std::vector<Lifetime> lives;
    for (std::int32_t i = 0; i < 10; ++i) {
        lives.push_back({.size = 64, .first = i, .last = i + 1});
    }
    EXPECT_EQ(placeScratch(lives, 16).total, 128);
}

}  // namespace
}  // namespace quern::kernels::cpu
