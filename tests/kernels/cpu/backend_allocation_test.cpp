// A step allocates nothing. In a program of its own, because it counts every operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/kernels/cpu/session.h"

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
    return operator new(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(size == 0 ? 1 : size);
}
// Not inlined: where only one of a pair is, the compiler takes malloc and delete for mismatched.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace quern::kernels::test {
namespace {

TEST(Allocation, StepsAllocateNothing) {
    for (const CpuTier tier : availableCpuTiers()) {
        const auto backend = makeBackend(tier, 2);
        const TestList list = makeModel({.type = DType::kQ4_1,
                                         .tableType = DType::kQ8_0,
                                         .kvType = DType::kF16,
                                         .experts = 4,
                                         .expertsUsed = 2},
                                        1);
        auto program = backend->compile(list.ops, list.kv, list.views(), {});
        ASSERT_TRUE(program.has_value());
        const std::vector<std::int64_t> counts{40};
        auto cache = backend->allocateKv(list.kv, counts);
        ASSERT_TRUE(cache.has_value());
        std::vector<std::int32_t> blocks;
        for (std::int32_t i = 0; i < 40; ++i) {
            blocks.push_back(i);
        }
        const std::vector<BlockTables> tables{{.blocks = blocks, .stride = 40}};
        std::vector<float> out(50);
        std::int32_t position = 0;
        for (const std::int32_t count : {300, 1, 1, 5, 40, 1}) {
            const Tokens tokens = randomTokens(count, 50, 1);
            std::vector<std::int32_t> positions;
            for (std::int32_t i = 0; i < count; ++i) {
                positions.push_back(position++);
            }
            const std::vector<SequenceSlice> sequences{{0, count}};
            const std::vector<std::int32_t> rows{count - 1};
            const StepInputs inputs{.tokens = tokens,
                                    .positions = positions,
                                    .sequences = sequences,
                                    .tables = tables,
                                    .outputRows = rows};
            const std::int64_t before = allocations.load();
            const auto ticket = backend->submit(**program, **cache, inputs, {.rows = out});
            EXPECT_EQ(allocations.load() - before, 0) << count << " tokens";
            EXPECT_TRUE(ticket.has_value());
        }
        EXPECT_GT(allocations.load(), 0);
    }
}

}  // namespace
}  // namespace quern::kernels::test
