// Buffers, the KV cache, the device list.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/cpu/session.h"

namespace quern::kernels::test {
namespace {

TEST(Devices, TheProcessorIsThereAndTheGpuSaysWhyNot) {
    const std::vector<DeviceInfo> all = devices();
    ASSERT_GE(all.size(), 2U);
    const DeviceInfo& cpu = all[0];
    EXPECT_EQ(cpu.id, "cpu");
    EXPECT_TRUE(cpu.isAvailable);
    EXPECT_FALSE(cpu.name.empty());
    EXPECT_EQ(cpu.tier, tierName(availableCpuTiers().back()));
    EXPECT_GE(cpu.threads, 1);
    EXPECT_GT(cpu.memoryTotalBytes, 0);
    EXPECT_GT(cpu.memoryFreeBytes, 0);
    EXPECT_LE(cpu.memoryFreeBytes, cpu.memoryTotalBytes);
    for (std::size_t i = 1; i < all.size(); ++i) {
        EXPECT_EQ(all[i].id.rfind("cuda", 0), 0U);
        EXPECT_NE(all[i].isAvailable, !all[i].whyNot.empty());
    }
    const auto backend = makeBackend(CpuTier::kGeneric, 3);
    EXPECT_EQ(backend->device().tier, "generic");
    EXPECT_EQ(backend->device().threads, 3);
}

TEST(Buffers, UploadAndDownload) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    auto buffer = backend->allocate(5);
    ASSERT_TRUE(buffer.has_value());
    EXPECT_EQ((*buffer)->bytes(), 5);
    const std::vector<std::byte> data{std::byte{1}, std::byte{2}, std::byte{3}};
    EXPECT_TRUE(backend->upload(**buffer, 2, data).has_value());
    std::vector<std::byte> all(5);
    EXPECT_TRUE(backend->download(**buffer, 0, all).has_value());
    EXPECT_EQ(all[1], std::byte{0});
    EXPECT_EQ(all[4], std::byte{3});
    EXPECT_FALSE(backend->upload(**buffer, 3, data).has_value());
    EXPECT_FALSE(backend->upload(**buffer, -1, data).has_value());
    EXPECT_FALSE(backend->download(**buffer, 1, all).has_value());
    EXPECT_FALSE(backend->allocate(-1).has_value());
    const auto tooLarge = backend->allocate(std::int64_t{1} << 60);
    ASSERT_FALSE(tooLarge.has_value());
    EXPECT_EQ(tooLarge.error().code, ErrorCode::kOutOfMemory);
    EXPECT_TRUE(backend->allocate(0).has_value());
}

TEST(KvCache, SizesAndErrors) {
    const KvLayout layout{.layers = {{.group = 0, .kvHeads = 2, .keyDim = 16, .valueDim = 16},
                                     {.group = 1, .kvHeads = 1, .keyDim = 8, .valueDim = 3}},
                          .groups = 2,
                          .type = DType::kF16};
    EXPECT_EQ(kvBlockBytes(layout, 0), 16 * 2 * (16 + 16) * 2);
    EXPECT_EQ(kvBlockBytes(layout, 1), 16 * (8 + 3) * 2);
    EXPECT_EQ(kvBlockBytes(layout, 2), 0);
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    const std::vector<std::int64_t> counts{4, 2};
    auto cache = backend->allocateKv(layout, counts);
    ASSERT_TRUE(cache.has_value());
    EXPECT_EQ((*cache)->blocks(1), 2);
    EXPECT_EQ((*cache)->blockBytes(0), kvBlockBytes(layout, 0));
    EXPECT_GE((*cache)->blockBytes(1), kvBlockBytes(layout, 1));
    EXPECT_TRUE(backend->copyBlock(**cache, 0, 3, 0).has_value());
    EXPECT_FALSE(backend->copyBlock(**cache, 0, 4, 0).has_value());
    EXPECT_FALSE(backend->copyBlock(**cache, 0, 0, -1).has_value());
    EXPECT_FALSE(backend->copyBlock(**cache, 2, 0, 0).has_value());
    const std::vector<std::int64_t> few{4};
    EXPECT_FALSE(backend->allocateKv(layout, few).has_value());
    const std::vector<std::int64_t> huge{std::int64_t{1} << 40, 1};
    EXPECT_FALSE(backend->allocateKv(layout, huge).has_value());
    const std::vector<std::int64_t> tooMany{INT32_MAX, INT32_MAX};
    const auto refused = backend->allocateKv(
        {.layers = {{.group = 0, .kvHeads = 1 << 15, .keyDim = 1 << 15, .valueDim = 1}},
         .groups = 2,
         .type = DType::kF32},
        tooMany);
    ASSERT_FALSE(refused.has_value());
}

// A sequence goes on in copies of its blocks with the same bits.
TEST(KvCache, CopiedBlocksHoldTheSame) {
    const auto backend = makeBackend(CpuTier::kAuto, 2);
    const TestList list = makeModel({}, 3);
    auto program = backend->compile(list.ops, list.kv, list.views(), {});
    ASSERT_TRUE(program.has_value());
    const std::vector<std::int64_t> counts{4};
    auto cache = backend->allocateKv(list.kv, counts);
    ASSERT_TRUE(cache.has_value());
    const auto step = [&](const Tokens& tokens, std::int32_t first, std::int32_t block0,
                          std::int32_t block1) {
        std::vector<std::int32_t> positions;
        for (std::int32_t i = 0; i < std::ssize(tokens); ++i) {
            positions.push_back(first + i);
        }
        const std::vector<SequenceSlice> sequences{{0, static_cast<std::int32_t>(tokens.size())}};
        const std::vector<std::int32_t> blocks{block0, block1};
        const std::vector<BlockTables> tables{{.blocks = blocks, .stride = 2}};
        const std::vector<std::int32_t> rows{static_cast<std::int32_t>(tokens.size()) - 1};
        std::vector<float> out(50);
        EXPECT_TRUE(backend
                        ->submit(**program, **cache,
                                 {.tokens = tokens,
                                  .positions = positions,
                                  .sequences = sequences,
                                  .tables = tables,
                                  .outputRows = rows},
                                 {.rows = out})
                        .has_value());
        return out;
    };
    step(randomTokens(20, 50, 1), 0, 2, 0);
    ASSERT_TRUE(backend->copyBlock(**cache, 0, 2, 1).has_value());
    ASSERT_TRUE(backend->copyBlock(**cache, 0, 0, 3).has_value());
    const std::vector<float> original = step({7}, 20, 2, 0);
    EXPECT_TRUE(areSameBits(original, step({7}, 20, 1, 3)));
    EXPECT_FALSE(areSameBits(original, step({8}, 20, 1, 3)));
}

}  // namespace
}  // namespace quern::kernels::test
