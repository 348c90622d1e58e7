#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/result.h"

namespace quern::kernels::cpu {

/// Memory that packed weights live in: pieces cut one after the other from large anonymous
/// mappings, 2 MiB-aligned with huge pages advised, since most matrices of a small model are
/// smaller than one huge page. Pages that no piece covers are never touched. Freed as a whole when
/// destroyed. Internally locked; any thread.
class WeightMemory {
public:
    WeightMemory() = default;
    ~WeightMemory();
    WeightMemory(const WeightMemory&) = delete;
    WeightMemory& operator=(const WeightMemory&) = delete;

    /// A zeroed piece of `bytes` (at least 0), 64-byte aligned. kOutOfMemory names the bytes.
    [[nodiscard]] Result<std::span<std::byte>> allocate(std::int64_t bytes);
    /// Bytes in pieces so far.
    [[nodiscard]] std::int64_t bytes() const;

private:
    struct Mapping {
        void* address;
        std::size_t length;
    };
    [[nodiscard]] Result<std::span<std::byte>> map(std::size_t bytes);

    mutable std::mutex m_mutex;
    std::vector<Mapping> m_mappings;
    std::span<std::byte> m_rest;  // of the newest shared mapping
    std::int64_t m_bytes = 0;
};

}  // namespace quern::kernels::cpu
