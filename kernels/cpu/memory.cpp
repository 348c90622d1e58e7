#include "kernels/cpu/memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace quern::kernels::cpu {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Result<SystemMemory> SystemMemory::create(std::int64_t bytes, const char* what) {
    SystemMemory memory;
    if (bytes <= 0) {
        return memory;
    }
    const bool isLarge = static_cast<std::size_t>(bytes) >= kHugePage;
    const std::size_t wanted = static_cast<std::size_t>(bytes) + (isLarge ? kHugePage : 0);
    void* mapping =
        mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        return fail(ErrorCode::kOutOfMemory,
                    std::string(what) + " needs " + std::to_string(bytes) +
                        " bytes, which the system does not give",
                    std::strerror(errno));
    }
    memory.m_mapping = mapping;
    memory.m_mappingBytes = wanted;
    memory.m_data = static_cast<std::byte*>(mapping);
    memory.m_bytes = bytes;
    if (isLarge) {
        const auto address = reinterpret_cast<std::uintptr_t>(mapping);
        const std::uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
        memory.m_data += aligned - address;
        // Advice only: without huge pages everything still works, slower.
        (void)madvise(memory.m_data, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    }
    return memory;
}

SystemMemory::SystemMemory(SystemMemory&& other) noexcept
    : m_mapping(std::exchange(other.m_mapping, nullptr)),
      m_mappingBytes(std::exchange(other.m_mappingBytes, 0)),
      m_data(std::exchange(other.m_data, nullptr)),
      m_bytes(std::exchange(other.m_bytes, 0)) {}

SystemMemory& SystemMemory::operator=(SystemMemory&& other) noexcept {
    std::swap(m_mapping, other.m_mapping);
    std::swap(m_mappingBytes, other.m_mappingBytes);
    std::swap(m_data, other.m_data);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

SystemMemory::~SystemMemory() {
    if (m_mapping != nullptr) {
        munmap(m_mapping, m_mappingBytes);
    }
}

}  // namespace quern::kernels::cpu
