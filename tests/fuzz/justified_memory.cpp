#include "tests/fuzz/justified_memory.h"

#include <sanitizer/allocator_interface.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace quern::test {

namespace {

// Allocations of all threads are seen here, those of a fuzzer's watchdog too; it makes next to
// none.
std::atomic<bool> g_isCounting = false;
std::atomic<std::int64_t> g_bytes = 0;
std::atomic<std::int64_t> g_most = 0;

void onAllocation(const volatile void*, std::size_t size) {
    if (!g_isCounting.load(std::memory_order_relaxed)) {
        return;
    }
    const std::int64_t bytes =
        g_bytes.fetch_add(static_cast<std::int64_t>(size)) + static_cast<std::int64_t>(size);
    if (bytes > g_most.load(std::memory_order_relaxed)) {
        g_isCounting.store(false);
        std::fprintf(stderr, "%lld bytes are allocated at once; the input justifies %lld\n",
                     static_cast<long long>(bytes), static_cast<long long>(g_most.load()));
        std::abort();
    }
}

void onRelease(const volatile void* pointer) {
    if (g_isCounting.load(std::memory_order_relaxed) && pointer != nullptr) {
        g_bytes.fetch_sub(static_cast<std::int64_t>(
            __sanitizer_get_allocated_size(const_cast<const void*>(pointer))));
    }
}

}  // namespace

JustifiedMemory::JustifiedMemory(std::size_t most) {
    static const int kInstalled =
        __sanitizer_install_malloc_and_free_hooks(&onAllocation, &onRelease);
    if (kInstalled == 0) {
        std::fprintf(stderr, "the sanitizer takes no hooks\n");
        std::abort();
    }
    g_bytes.store(0);
    g_most.store(static_cast<std::int64_t>(most));
    g_isCounting.store(true);
}

JustifiedMemory::~JustifiedMemory() {
    g_isCounting.store(false);
}

}  // namespace quern::test
