#include "engine/core/kv_sizing.h"

#include <gtest/gtest.h>

namespace quern::engine {
namespace {

kernels::KvLayout layoutOf(std::int32_t groups) {
    kernels::KvLayout layout;
    layout.groups = groups;
    for (std::int32_t g = 0; g < groups; ++g) {
        layout.layers.push_back({.group = g, .kvHeads = 2, .keyDim = 16, .valueDim = 16});
    }
    return layout;
}

constexpr KvDemand kDemand{.contextTokens = 1000, .stepTokens = 64, .maxRunning = 4};

TEST(KvSizing, FillsTheBytesThatAreThere) {
    const kernels::KvLayout layout = layoutOf(1);
    const std::vector<KvGroupSpec> groups = {{.window = 0}};
    const std::int64_t block = kernels::kvBlockBytes(layout, 0);
    const KvSize size = kvSizeWithin(layout, groups, kDemand, 100 * block + block / 2);
    EXPECT_EQ(size.blocks, std::vector<std::int64_t>{100});
    EXPECT_EQ(size.bytes, 100 * block);
    EXPECT_EQ(size.tokens, 1600);
}

TEST(KvSizing, IsNeverSmallerThanOneContext) {
    const kernels::KvLayout layout = layoutOf(1);
    const std::vector<KvGroupSpec> groups = {{.window = 0}};
    EXPECT_EQ(kvSizeWithin(layout, groups, kDemand, 0).blocks, std::vector<std::int64_t>{63});
}

TEST(KvSizing, AWindowNeedsNoMoreThanItsSequencesCanHold) {
    const kernels::KvLayout layout = layoutOf(2);
    const std::vector<KvGroupSpec> groups = {{.window = 0}, {.window = 100}};
    EXPECT_EQ(kvSizeFor(layout, groups, kDemand, 0).blocks, (std::vector<std::int64_t>{63, 12}))
        << "one context: its window, a step and a block at the border";
    EXPECT_EQ(kvSizeFor(layout, groups, kDemand, 2 * 63 * 16).blocks,
              (std::vector<std::int64_t>{126, 24}));
    EXPECT_EQ(kvSizeFor(layout, groups, kDemand, 1000000).blocks[1], 4 * (7 + 2) + 4)
        << "four sequences run at the same time";
    const std::vector<KvGroupSpec> wide = {{.window = 0}, {.window = 5000}};
    EXPECT_EQ(kvSizeFor(layout, wide, kDemand, 0).blocks, (std::vector<std::int64_t>{63, 63}))
        << "and never more than all tokens";
}

kernels::KvLayout withStates(std::int32_t tokenGroups, std::int64_t floats) {
    kernels::KvLayout layout = layoutOf(tokenGroups);
    layout.states.push_back({.group = layout.groups, .floats = floats});
    ++layout.groups;
    return layout;
}

TEST(KvSizing, StatesAreForSequencesNotForTokens) {
    const std::vector<KvGroupSpec> groups = {{.window = 0}, {.isState = true}};
    // Larger than all tokens' blocks together: no more than each sequence needs.
    const kernels::KvLayout large = withStates(1, 1 << 20);
    EXPECT_EQ(kvSizeFor(large, groups, kDemand, 0).blocks, (std::vector<std::int64_t>{63, 4}));
    EXPECT_EQ(kvSizeFor(large, groups, kDemand, 2 * 63 * 16).blocks,
              (std::vector<std::int64_t>{126, 8}));
    // Smaller than a block: for all that can run.
    const kernels::KvLayout small = withStates(1, 100);
    EXPECT_EQ(kvSizeFor(small, groups, kDemand, 2 * 63 * 16).blocks,
              (std::vector<std::int64_t>{126, 16}));
}

TEST(KvSizing, StatesAloneStopWhereAllThatRunHaveEnough) {
    const std::vector<KvGroupSpec> groups = {{.isState = true}};
    kernels::KvLayout layout;
    layout.states.push_back({.group = 0, .floats = 1000});
    EXPECT_EQ(kvSizeWithin(layout, groups, kDemand, 0).blocks, std::vector<std::int64_t>{4});
    EXPECT_EQ(kvSizeWithin(layout, groups, kDemand, 8 * 4000 + 10).blocks,
              std::vector<std::int64_t>{8});
    const KvSize most = kvSizeWithin(layout, groups, kDemand, std::int64_t{1} << 40);
    EXPECT_EQ(most.blocks, std::vector<std::int64_t>{16});
    EXPECT_EQ(most.tokens, 4 * 63 * 16);
}

}  // namespace
}  // namespace quern::engine
