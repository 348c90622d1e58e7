#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace quern::engine {

/// Keeps the process alive when a mapped file is cut. A read behind the new end raises SIGBUS; for
/// mappings that are watched the rest of the mapping then becomes zeros, and the cut is counted. A
/// SIGBUS of any other origin goes to whoever had it before. Any thread.
class MappingGuard {
public:
    /// At most 4096 at a time are watched; more are as without a guard.
    static void watch(std::span<const std::byte> mapping);
    static void forget(std::span<const std::byte> mapping);
    [[nodiscard]] static std::uint64_t cuts();
};

}  // namespace quern::engine
