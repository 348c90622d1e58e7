#include "engine/formats/mapping_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace quern::engine {

namespace {

// Read by the signal's handler, so nothing here may lock. A range is free while its end is 0.
struct Range {
    std::atomic<std::uintptr_t> begin = 0;
    std::atomic<std::uintptr_t> end = 0;
};
std::array<Range, 4096> g_ranges;
std::atomic<std::uint64_t> g_cuts = 0;
std::uintptr_t g_pageBytes = 0;
struct sigaction g_previous {};

// Zeros from the page that could not be read to the end of its mapping. mmap is a bare system call.
bool replaceRest(std::uintptr_t address) {
    for (const Range& range : g_ranges) {
        const std::uintptr_t end = range.end.load(std::memory_order_acquire);
        if (address >= range.begin.load(std::memory_order_acquire) && address < end) {
            const std::uintptr_t page = address & ~(g_pageBytes - 1);
            // NOLINTNEXTLINE(performance-no-int-to-ptr): the address comes from the system.
            void* const from = reinterpret_cast<void*>(page);
            return ::mmap(from, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                          0) == from;
        }
    }
    return false;
}

void onBusError(int, siginfo_t* info, void*) {
    if (replaceRest(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
        g_cuts.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    // Not ours: the read is done again, and fails as it would have.
    ::sigaction(SIGBUS, &g_previous, nullptr);
}

void listen() {
    static std::once_flag once;
    std::call_once(once, [] {
        g_pageBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        struct sigaction action {};
        action.sa_sigaction = onBusError;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        ::sigaction(SIGBUS, &action, &g_previous);
    });
}

std::mutex& tableMutex() {
    static std::mutex mutex;
    return mutex;
}

}  // namespace

void MappingGuard::watch(std::span<const std::byte> mapping) {
    listen();
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
    const std::lock_guard lock(tableMutex());
    for (Range& range : g_ranges) {
        if (range.end.load(std::memory_order_relaxed) == 0) {
            range.begin.store(begin, std::memory_order_release);
            range.end.store(begin + mapping.size(), std::memory_order_release);
            return;
        }
    }
}

void MappingGuard::forget(std::span<const std::byte> mapping) {
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
    const std::lock_guard lock(tableMutex());
    for (Range& range : g_ranges) {
        if (range.end.load(std::memory_order_relaxed) != 0 &&
            range.begin.load(std::memory_order_relaxed) == begin) {
            range.end.store(0, std::memory_order_release);
            return;
        }
    }
}

std::uint64_t MappingGuard::cuts() {
    return g_cuts.load(std::memory_order_relaxed);
}

}  // namespace quern::engine
