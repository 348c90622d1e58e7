#include "engine/kv/prefix_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace quern::engine {
namespace {

TEST(BlockKey, DependsOnParentTokensSaltAndAdapter) {
    const std::vector<TokenId> tokens(16, 7);
    std::vector<TokenId> others = tokens;
    others[15] = 8;
    const BlockKey root = rootKey("", "");
    const BlockKey key = childKey(root, tokens);
    EXPECT_EQ(key, childKey(root, tokens));
    EXPECT_NE(key, childKey(root, others));
    EXPECT_NE(key, childKey(key, tokens));
    EXPECT_NE(key, childKey(rootKey("tenant", ""), tokens));
    EXPECT_NE(rootKey("tenant", ""), rootKey("", "tenant"));
    EXPECT_NE(rootKey("a", "bc"), rootKey("ab", "c"));
}

// Keys are drawn from few home slots, so that runs are long, wrap around and get holes.
TEST(PrefixIndex, AgreesWithAMapUnderRandomChanges) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    constexpr std::int32_t kBlocks = 40;
    PrefixIndex index(kBlocks);
    std::map<std::uint64_t, std::int32_t> truth;
    std::vector<std::optional<std::uint64_t>> keyOf(kBlocks);

    for (int round = 0; round < 20000; ++round) {
        const std::uint64_t name = random() % 60;
        const BlockKey key{.low = name % 5 + 125, .high = name};
        const auto block = static_cast<std::int32_t>(random() % kBlocks);
        auto& held = keyOf[static_cast<std::size_t>(block)];
        if (held) {
            index.erase(block);
            truth.erase(*held);
            held.reset();
        } else {
            const bool isNew = !truth.contains(name);
            ASSERT_EQ(index.insert(key, block), isNew);
            if (isNew) {
                truth[name] = block;
                held = name;
            }
        }
        for (std::uint64_t n = 0; n < 60; ++n) {
            const auto found = truth.find(n);
            ASSERT_EQ(index.find(BlockKey{.low = n % 5 + 125, .high = n}),
                      found == truth.end() ? -1 : found->second);
        }
    }
}

}  // namespace
}  // namespace quern::engine
