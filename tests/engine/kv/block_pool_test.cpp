#include "engine/kv/block_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

namespace quern::engine {
namespace {

constexpr BlockHolder kAnn{.request = 1, .color = 3};
constexpr BlockHolder kBob{.request = 2, .color = 4};

std::vector<TokenId> tokensFrom(TokenId first) {
    std::vector<TokenId> tokens(16);
    std::iota(tokens.begin(), tokens.end(), first);
    return tokens;
}

BlockKey keyOf(TokenId first) {
    return childKey(rootKey("", ""), tokensFrom(first));
}

TEST(BlockPool, GivesEveryBlockOnceAndThenNone) {
    BlockPool pool(3);
    std::vector<std::int32_t> taken = {pool.take(kAnn, 0), pool.take(kAnn, 1), pool.take(kAnn, 2)};
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(taken, (std::vector<std::int32_t>{0, 1, 2}));
    EXPECT_EQ(pool.take(kAnn, 3), -1);
    EXPECT_EQ(pool.freeCount(), 0);
    pool.release(1);
    EXPECT_EQ(pool.take(kBob, 0), 1);
}

TEST(BlockPool, FreedBlocksStayFindableUntilTaken) {
    BlockPool pool(2);
    const std::int32_t block = pool.take(kAnn, 0);
    EXPECT_EQ(pool.find(keyOf(100), tokensFrom(100)), -1);
    pool.publish(block, keyOf(100), tokensFrom(100));
    EXPECT_EQ(pool.find(keyOf(100), tokensFrom(100)), block);
    pool.release(block);
    EXPECT_EQ(pool.cachedCount(), 1);
    EXPECT_EQ(pool.heldCount(), 0);
    EXPECT_EQ(pool.find(keyOf(100), tokensFrom(100)), block);

    EXPECT_NE(pool.take(kBob, 0), block) << "a block that holds nothing goes first";
    EXPECT_EQ(pool.evictions(), 0U);
    EXPECT_EQ(pool.take(kBob, 1), block);
    EXPECT_EQ(pool.evictions(), 1U);
    EXPECT_EQ(pool.find(keyOf(100), tokensFrom(100)), -1);
    EXPECT_EQ(pool.cachedCount(), 0);
}

TEST(BlockPool, ComparesTheTokensOfAHit) {
    BlockPool pool(1);
    const std::int32_t block = pool.take(kAnn, 0);
    pool.publish(block, keyOf(100), tokensFrom(100));
    EXPECT_EQ(pool.find(keyOf(100), tokensFrom(101)), -1) << "equal key, other tokens";
}

TEST(BlockPool, TakesTheLongestFreeFirst) {
    BlockPool pool(3);
    for (TokenId i = 0; i < 3; ++i) {
        const std::int32_t block = pool.take(kAnn, i);
        pool.publish(block, keyOf(i), tokensFrom(i));
    }
    for (const TokenId i : {2, 0, 1}) {
        pool.release(pool.find(keyOf(i), tokensFrom(i)));
    }
    const std::int32_t hit = pool.find(keyOf(2), tokensFrom(2));
    pool.retain(hit, kBob);
    pool.release(hit);  // used again: now the last to go
    for (const TokenId i : {0, 1, 2}) {
        const std::int32_t expected = pool.find(keyOf(i), tokensFrom(i));
        EXPECT_EQ(pool.take(kBob, 0), expected) << i;
    }
}

TEST(BlockPool, AnEqualBlockIsNotPublishedTwice) {
    BlockPool pool(2);
    const std::int32_t first = pool.take(kAnn, 0);
    const std::int32_t second = pool.take(kBob, 0);
    pool.publish(first, keyOf(1), tokensFrom(1));
    pool.publish(second, keyOf(1), tokensFrom(1));
    EXPECT_EQ(pool.find(keyOf(1), tokensFrom(1)), first);
    pool.release(second);
    EXPECT_EQ(pool.cachedCount(), 0);
    pool.release(first);
    EXPECT_EQ(pool.cachedCount(), 1);
}

TEST(BlockPool, CountsSharers) {
    BlockPool pool(1);
    const std::int32_t block = pool.take(kAnn, 0);
    pool.retain(block, kBob);
    EXPECT_EQ(pool.sharedCount(), 1);
    pool.retain(block, kBob);
    EXPECT_EQ(pool.sharedCount(), 1);
    pool.release(block);
    EXPECT_EQ(pool.sharedCount(), 1);
    pool.release(block);
    EXPECT_EQ(pool.sharedCount(), 0);
    EXPECT_EQ(pool.heldCount(), 1);
    pool.release(block);
    EXPECT_EQ(pool.heldCount(), 0);
}

TEST(BlockPool, ForgetsWhatIsCachedAndKeepsWhatIsHeld) {
    BlockPool pool(2);
    const std::int32_t held = pool.take(kAnn, 0);
    const std::int32_t cached = pool.take(kAnn, 1);
    pool.publish(held, keyOf(1), tokensFrom(1));
    pool.publish(cached, keyOf(2), tokensFrom(2));
    pool.release(cached);
    pool.forgetCached();
    EXPECT_EQ(pool.find(keyOf(1), tokensFrom(1)), held);
    EXPECT_EQ(pool.find(keyOf(2), tokensFrom(2)), -1);
    EXPECT_EQ(pool.cachedCount(), 0);
    EXPECT_EQ(pool.freeCount(), 1);
}

TEST(BlockPool, FoldsChangesIntoAReadersMap) {
    BlockPool pool(4);
    KvMap map;
    EXPECT_FALSE(pool.knowsSince(map.version)) << "a new map is copied whole";
    map.cells.resize(4);
    pool.copyCells(0, map.cells);
    map.version = pool.version();

    const std::int32_t block = pool.take(kAnn, 5);
    pool.noteWrite(block, 77);
    pool.retain(block, kBob);
    ASSERT_TRUE(pool.knowsSince(map.version));
    pool.fold(map);
    const BlockCell& cell = map.cells[static_cast<std::size_t>(block)];
    EXPECT_EQ(cell.state, BlockState::kShared);
    EXPECT_EQ(cell.sharers, 2);
    EXPECT_EQ(cell.owner, 1U);
    EXPECT_EQ(cell.color, 3);
    EXPECT_EQ(cell.lastWrite, 77U);
    EXPECT_EQ(cell.logicalIndex, 5);

    for (int i = 0; i < 20000; ++i) {
        pool.noteWrite(block, 78);
    }
    EXPECT_FALSE(pool.knowsSince(map.version)) << "too far behind";
}

// A million blocks of a 16-million-token cache: filling, hitting and freeing all of them is a
// matter of seconds even on a slow machine, because each operation is O(1).
TEST(BlockPool, ServesAMillionBlocks) {
    constexpr std::int32_t kBlocks = 1'000'000;
    BlockPool pool(kBlocks);
    const auto start = std::chrono::steady_clock::now();
    for (std::int32_t i = 0; i < kBlocks; ++i) {
        const std::int32_t block = pool.take(kAnn, i);
        ASSERT_GE(block, 0);
        pool.publish(block, keyOf(i), tokensFrom(i));
    }
    for (std::int32_t i = kBlocks - 1; i >= 0; --i) {
        const std::int32_t block = pool.find(keyOf(i), tokensFrom(i));
        ASSERT_GE(block, 0);
        pool.release(block);
    }
    EXPECT_EQ(pool.cachedCount(), kBlocks);
    for (std::int32_t i = 0; i < kBlocks; ++i) {
        ASSERT_GE(pool.take(kBob, i), 0);
    }
    EXPECT_EQ(pool.evictions(), static_cast<std::uint64_t>(kBlocks));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    RecordProperty("nanosecondsAnOperation",
                   std::to_string(seconds.count() * 1e9 / (5.0 * kBlocks)));
    EXPECT_LT(seconds.count(), 30.0);
}

}  // namespace
}  // namespace quern::engine
