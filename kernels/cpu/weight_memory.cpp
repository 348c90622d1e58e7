#include "kernels/cpu/weight_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace quern::kernels::cpu {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSharedMapping = std::size_t{64} << 20;
constexpr std::size_t kAlignment = 64;

std::size_t roundUp(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

WeightMemory::~WeightMemory() {
    for (const Mapping& mapping : m_mappings) {
        munmap(mapping.address, mapping.length);
    }
}

Result<std::span<std::byte>> WeightMemory::map(std::size_t bytes) {
    // One huge page more than needed, so that an aligned start lies inside.
    const std::size_t length = roundUp(bytes, kHugePage) + kHugePage;
    void* address =
        mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
        return fail(ErrorCode::kOutOfMemory,
                    "weights need " + std::to_string(bytes) + " bytes that the system won't give",
                    std::strerror(errno));
    }
    m_mappings.push_back({.address = address, .length = length});
    auto* base = static_cast<std::byte*>(address);
    const auto misaligned = reinterpret_cast<std::uintptr_t>(base) % kHugePage;
    std::byte* start = base + (misaligned == 0 ? 0 : kHugePage - misaligned);
    const std::size_t usable = roundUp(bytes, kHugePage);
    // Advice only: without huge pages everything still works.
    (void)madvise(start, usable, MADV_HUGEPAGE);
    return std::span(start, usable);
}

Result<std::span<std::byte>> WeightMemory::allocate(std::int64_t bytes) {
    if (bytes < 0 || bytes > std::int64_t{1} << 56) {
        return fail(ErrorCode::kOutOfMemory,
                    "weights need " + std::to_string(bytes) + " bytes, more than any machine has");
    }
    const auto wanted = static_cast<std::size_t>(bytes);
    const std::size_t piece = roundUp(wanted, kAlignment);
    const std::scoped_lock lock(m_mutex);
    if (piece > m_rest.size()) {
        const bool isShared = piece <= kSharedMapping / 4;
        auto mapped = map(isShared ? kSharedMapping : piece);
        if (!mapped) {
            return mapped;
        }
        if (!isShared) {
            m_bytes += bytes;
            return mapped->first(wanted);
        }
        m_rest = *mapped;
    }
    const auto result = m_rest.first(wanted);
    m_rest = m_rest.subspan(piece);
    m_bytes += bytes;
    return result;
}

std::int64_t WeightMemory::bytes() const {
    const std::scoped_lock lock(m_mutex);
    return m_bytes;
}

}  // namespace quern::kernels::cpu
