#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/result.h"

namespace quern::kernels::cpu {

/// What begins in scratch memory begins at a cache line, 64 bytes: rows of different workers do not
/// share one needlessly.
inline constexpr std::int64_t kAlignFloats = 16;

/// Zeroed memory straight from the system, given back when destroyed. Pages are touched lazily; a
/// large piece starts at a multiple of 2 MiB and asks for huge pages. Movable, not copyable.
class SystemMemory {
public:
    /// kOutOfMemory names `what` and the bytes. `bytes` ≥ 0.
    [[nodiscard]] static Result<SystemMemory> create(std::int64_t bytes, const char* what);

    SystemMemory() = default;
    SystemMemory(SystemMemory&& other) noexcept;
    SystemMemory& operator=(SystemMemory&& other) noexcept;
    ~SystemMemory();

    [[nodiscard]] std::byte* data() const { return m_data; }
    [[nodiscard]] std::int64_t bytes() const { return m_bytes; }

private:
    void* m_mapping = nullptr;
    std::size_t m_mappingBytes = 0;
    std::byte* m_data = nullptr;
    std::int64_t m_bytes = 0;
};

}  // namespace quern::kernels::cpu
