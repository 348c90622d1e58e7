#include "engine/kv/kv_manager.h"

#include <gtest/gtest.h>

#include <numeric>

namespace quern::engine {
namespace {

std::vector<TokenId> someTokens(std::size_t count, TokenId first = 0) {
    std::vector<TokenId> tokens(count);
    std::iota(tokens.begin(), tokens.end(), first);
    return tokens;
}

SequenceKv openSequence(const KvManager& kv, std::string_view salt = "") {
    return kv.open(salt, "", BlockHolder{.request = 1, .color = 0});
}

/// Runs a sequence over all of its tokens in steps of `chunk`.
SequenceKv run(KvManager& kv, const std::vector<TokenId>& tokens, std::int64_t hit = 0,
               std::int64_t chunk = 1000, std::string_view salt = "") {
    const auto size = static_cast<std::int64_t>(tokens.size());
    SequenceKv sequence = openSequence(kv, salt);
    if (hit > 0) {
        EXPECT_EQ(kv.findPrefix(sequence, tokens, hit), hit);
    }
    std::int64_t begin = hit;
    for (bool isFirst = true; begin < size; isFirst = false) {
        const std::int64_t end = std::min(size, begin + chunk);
        const KvRoom room{.begin = begin, .stepEnd = end, .knownEnd = size, .spare = 0};
        EXPECT_FALSE(isFirst ? kv.admit(sequence, room) : kv.extend(sequence, room));
        kv.written(sequence, tokens, begin, end, 1);
        begin = end;
    }
    return sequence;
}

std::int64_t hitOf(const KvManager& kv, const std::vector<TokenId>& tokens,
                   std::string_view salt = "") {
    SequenceKv sequence = openSequence(kv, salt);
    return kv.findPrefix(sequence, tokens, static_cast<std::int64_t>(tokens.size()) - 1);
}

TEST(KvManager, FindsWholeBlocksButNeverTheLastToken) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 16, .window = 0}};
    KvManager kv(groups, true);
    SequenceKv sequence = run(kv, someTokens(40));
    EXPECT_EQ(sequence.heldBlocks(), 3);
    EXPECT_EQ(hitOf(kv, someTokens(40)), 32);
    EXPECT_EQ(hitOf(kv, someTokens(33)), 32);
    EXPECT_EQ(hitOf(kv, someTokens(32)), 16) << "the last token is computed anew";
    EXPECT_EQ(hitOf(kv, someTokens(16)), 0);
    EXPECT_EQ(hitOf(kv, someTokens(40, 1)), 0);
    EXPECT_EQ(hitOf(kv, someTokens(40), "salt"), 0);
    kv.release(sequence);
    EXPECT_TRUE(kv.isIdle());
    EXPECT_EQ(hitOf(kv, someTokens(40)), 32) << "freed blocks stay findable";
    kv.forgetCached();
    EXPECT_EQ(hitOf(kv, someTokens(40)), 0);
}

TEST(KvManager, SharesHitBlocks) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 16, .window = 0}};
    KvManager kv(groups, true);
    SequenceKv first = run(kv, someTokens(40));
    std::vector<TokenId> tokens = someTokens(40);
    tokens[37] = 1000;
    SequenceKv second = run(kv, tokens, 32);
    EXPECT_EQ(first.groups[0].table[0], second.groups[0].table[0]);
    EXPECT_EQ(first.groups[0].table[1], second.groups[0].table[1]);
    EXPECT_NE(first.groups[0].table[2], second.groups[0].table[2]);
    EXPECT_EQ(kv.pool(0).sharedCount(), 2);
    kv.release(first);
    kv.release(second);
    EXPECT_TRUE(kv.isIdle());
}

TEST(KvManager, TakesTheDeepestBlockOfAFreedSequenceFirst) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 4, .window = 0}};
    KvManager kv(groups, true);
    SequenceKv sequence = run(kv, someTokens(64));
    kv.release(sequence);
    SequenceKv other = run(kv, someTokens(16, 500));
    EXPECT_EQ(hitOf(kv, someTokens(64)), 48);
    kv.release(other);
}

TEST(KvManager, FreesBlocksBehindAWindow) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 32, .window = 0},
                                               {.blocks = 8, .window = 20}};
    KvManager kv(groups, true);
    SequenceKv sequence = run(kv, someTokens(160), 0, 16);
    EXPECT_EQ(sequence.groups[0].firstHeld, 0);
    // The last step began at 144 and saw from token 125 on: block 7.
    EXPECT_EQ(sequence.groups[1].firstHeld, 7);
    EXPECT_EQ(sequence.groups[1].table[6], -1);
    EXPECT_EQ(kv.pool(1).heldCount(), 3);
    kv.release(sequence);
    EXPECT_TRUE(kv.isIdle());
}

TEST(KvManager, AHitMustHoldInAllGroups) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 32, .window = 0},
                                               {.blocks = 6, .window = 20}};
    KvManager kv(groups, true);
    SequenceKv sequence = run(kv, someTokens(160), 0, 16);
    kv.release(sequence);
    // Only the last six blocks are left in the window's group: 4 … 9.
    EXPECT_EQ(hitOf(kv, someTokens(160)), 144);
    EXPECT_EQ(hitOf(kv, someTokens(112)), 96) << "its window, blocks 4 and 5, is still there";
    EXPECT_EQ(hitOf(kv, someTokens(81)), 0) << "its window needs block 3, which is gone";

    SequenceKv again = run(kv, someTokens(160), 144);
    EXPECT_EQ(again.groups[1].firstHeld, 7);
    EXPECT_EQ(again.groups[1].table[0], -1);
    EXPECT_GE(again.groups[1].table[8], 0);
    kv.release(again);
    EXPECT_TRUE(kv.isIdle());
}

TEST(KvManager, AShortageChangesNothing) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 8, .window = 0},
                                               {.blocks = 2, .window = 20}};
    KvManager kv(groups, true);
    SequenceKv sequence = openSequence(kv);
    const auto shortage =
        kv.admit(sequence, KvRoom{.begin = 0, .stepEnd = 40, .knownEnd = 100, .spare = 0});
    ASSERT_TRUE(shortage);
    EXPECT_EQ(shortage->group, 1);
    EXPECT_EQ(shortage->needed, 3);
    EXPECT_EQ(shortage->free, 2);
    EXPECT_TRUE(kv.isIdle());
    EXPECT_EQ(sequence.heldBlocks(), 0);
    EXPECT_TRUE(kv.admit(sequence, {.begin = 0, .stepEnd = 32, .knownEnd = 100, .spare = 1}));
    EXPECT_FALSE(kv.admit(sequence, {.begin = 0, .stepEnd = 32, .knownEnd = 100, .spare = 0}));
    EXPECT_EQ(kv.pool(0).heldCount(), 7) << "the whole prompt's blocks at once";
    EXPECT_EQ(kv.pool(1).heldCount(), 2) << "only the step's";
    kv.release(sequence);
}

TEST(KvManager, CountsFreeHitBlocksAsNeeded) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 4, .window = 0}};
    KvManager kv(groups, true);
    SequenceKv sequence = run(kv, someTokens(48));
    kv.release(sequence);
    SequenceKv other = run(kv, someTokens(16, 900));
    // Three cached blocks are free and all of them are wanted, with one more that is not there.
    SequenceKv again = openSequence(kv);
    const std::int64_t hit = kv.findPrefix(again, someTokens(64), 63);
    ASSERT_EQ(hit, 48);
    EXPECT_TRUE(kv.admit(again, {.begin = hit, .stepEnd = 64, .knownEnd = 64, .spare = 0}));
    EXPECT_EQ(again.heldBlocks(), 0);
    kv.release(other);
    EXPECT_FALSE(kv.admit(again, {.begin = hit, .stepEnd = 64, .knownEnd = 64, .spare = 0}));
    kv.release(again);
}

TEST(KvManager, ForksShareFullBlocksAndCopyTheLast) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 8, .window = 0},
                                               {.blocks = 8, .window = 20}};
    KvManager kv(groups, true);
    SequenceKv parent = run(kv, someTokens(40));
    SequenceKv child = openSequence(kv);
    std::vector<KvCopy> copies;
    ASSERT_FALSE(kv.fork(parent, child, 40, copies));
    ASSERT_EQ(copies.size(), 2U);
    EXPECT_EQ(copies[0].from, parent.groups[0].table[2]);
    EXPECT_EQ(copies[0].to, child.groups[0].table[2]);
    EXPECT_EQ(child.groups[0].table[1], parent.groups[0].table[1]);
    EXPECT_EQ(kv.pool(0).heldCount(), 4);

    SequenceKv aligned = openSequence(kv);
    copies.clear();
    ASSERT_FALSE(kv.fork(parent, aligned, 32, copies));
    EXPECT_TRUE(copies.empty()) << "nothing to copy at a block's border";
    kv.release(parent);
    kv.release(child);
    kv.release(aligned);
    EXPECT_TRUE(kv.isIdle());
}

const std::vector<KvGroupConfig> kWithStates = {{.blocks = 64, .window = 0},
                                                {.blocks = 6, .isState = true}};

TEST(KvManager, ASequenceGoesOnInOneState) {
    KvManager kv(kWithStates, false);
    SequenceKv sequence = openSequence(kv);
    ASSERT_FALSE(kv.admit(sequence, {.begin = 0, .stepEnd = 70, .knownEnd = 70}));
    EXPECT_EQ(sequence.groups[1].table, (std::vector<std::int32_t>{-1, -1, -1, -1, 0}));
    EXPECT_EQ(kv.pool(1).heldCount(), 1);
    ASSERT_FALSE(kv.extend(sequence, {.begin = 79, .stepEnd = 80, .knownEnd = 80}));
    EXPECT_EQ(kv.pool(1).heldCount(), 1) << "in place up to the block's end";
    ASSERT_FALSE(kv.extend(sequence, {.begin = 80, .stepEnd = 81, .knownEnd = 81}));
    EXPECT_EQ(kv.pool(1).heldCount(), 2) << "from one into the next";
    ASSERT_FALSE(kv.extend(sequence, {.begin = 81, .stepEnd = 82, .knownEnd = 82}));
    EXPECT_EQ(kv.pool(1).heldCount(), 1);
    EXPECT_EQ(sequence.heldBlocks(), 6 + 1);
    kv.release(sequence);
    EXPECT_TRUE(kv.isIdle());
}

TEST(KvManager, AHitNeedsASnapshot) {
    KvManager kv(kWithStates, true);
    SequenceKv sequence = run(kv, someTokens(70));
    EXPECT_EQ(sequence.groups[1].held, 2) << "the last border's and the one it goes on in";
    EXPECT_EQ(hitOf(kv, someTokens(70)), 64);
    EXPECT_EQ(hitOf(kv, someTokens(100)), 64) << "a longer one";
    EXPECT_EQ(hitOf(kv, someTokens(60)), 0) << "blocks are there, but no state before token 48";
    SequenceKv again = run(kv, someTokens(100), 64);
    EXPECT_EQ(again.groups[1].table[3], sequence.groups[1].table[3]) << "a snapshot is shared";
    kv.release(sequence);
    kv.release(again);
    EXPECT_TRUE(kv.isIdle());
    EXPECT_EQ(hitOf(kv, someTokens(96)), 64) << "the same again would hit its last token";
    EXPECT_EQ(hitOf(kv, someTokens(97)), 96);
}

TEST(KvManager, APromptThatEndsAtABorderKeepsTheBorderBeforeToo) {
    KvManager kv(kWithStates, true);
    SequenceKv sequence = run(kv, someTokens(64));
    EXPECT_EQ(hitOf(kv, someTokens(64)), 48) << "asked again";
    EXPECT_EQ(hitOf(kv, someTokens(90)), 64) << "continued";
    kv.release(sequence);
}

TEST(KvManager, PromptsThatBeginAlikeMeetAtMultiplesOf256) {
    KvManager kv(kWithStates, true);
    SequenceKv sequence = run(kv, someTokens(600));
    std::vector<TokenId> other = someTokens(600);
    other[530] = 1000;
    EXPECT_EQ(hitOf(kv, other), 512);
    other[300] = 1000;
    EXPECT_EQ(hitOf(kv, other), 256);
    kv.release(sequence);
}

TEST(KvManager, SnapshotsAreTakenOfWhatIsLeft) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 64, .window = 0},
                                               {.blocks = 3, .isState = true}};
    KvManager kv(groups, true);
    SequenceKv first = openSequence(kv);
    ASSERT_FALSE(kv.admit(first, {.begin = 0, .stepEnd = 70, .knownEnd = 70, .spare = 2}));
    EXPECT_EQ(first.groups[1].held, 1) << "two stay free";
    SequenceKv second = openSequence(kv);
    ASSERT_FALSE(kv.admit(second, {.begin = 0, .stepEnd = 300, .knownEnd = 300, .spare = 0}));
    EXPECT_EQ(second.groups[1].held, 2);
    SequenceKv third = openSequence(kv);
    EXPECT_TRUE(kv.admit(third, {.begin = 0, .stepEnd = 3, .knownEnd = 3, .spare = 0}));
    EXPECT_EQ(third.heldBlocks(), 0) << "a shortage of states takes no block";
    kv.release(first);
    kv.release(second);
    EXPECT_TRUE(kv.isIdle());
}

TEST(KvManager, ForksCopyTheStateTheyGoOnIn) {
    KvManager kv(kWithStates, true);
    SequenceKv parent = run(kv, someTokens(70));
    SequenceKv child = openSequence(kv);
    std::vector<KvCopy> copies;
    ASSERT_FALSE(kv.fork(parent, child, 70, copies));
    ASSERT_EQ(copies.size(), 2U);
    EXPECT_EQ(copies[1].group, 1);
    EXPECT_EQ(copies[1].from, parent.groups[1].table[4]);
    EXPECT_EQ(child.groups[1].table[3], parent.groups[1].table[3]);
    EXPECT_EQ(child.groups[1].held, 2);
    kv.release(parent);
    kv.release(child);
    EXPECT_TRUE(kv.isIdle());
}

TEST(KvManager, WithoutPrefixCachingNothingIsFound) {
    const std::vector<KvGroupConfig> groups = {{.blocks = 8, .window = 0}};
    KvManager kv(groups, false);
    SequenceKv sequence = run(kv, someTokens(40));
    EXPECT_EQ(hitOf(kv, someTokens(40)), 0);
    kv.release(sequence);
    EXPECT_EQ(kv.pool(0).cachedCount(), 0);
}

}  // namespace
}  // namespace quern::engine
