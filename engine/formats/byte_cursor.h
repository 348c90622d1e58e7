#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace quern::engine {

/// Walks little-endian bytes; every step is checked against what is left. One thread.
class ByteCursor {
public:
    explicit ByteCursor(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    [[nodiscard]] std::size_t position() const { return m_at; }
    [[nodiscard]] std::size_t left() const { return m_bytes.size() - m_at; }

    /// False, moving nothing, when fewer bytes are left.
    template <class T>
    [[nodiscard]] bool read(T& out) {
        if (left() < sizeof(T)) {
            return false;
        }
        std::memcpy(&out, m_bytes.data() + m_at, sizeof(T));
        m_at += sizeof(T);
        return true;
    }
    [[nodiscard]] bool take(std::uint64_t count, std::span<const std::byte>& out) {
        if (left() < count) {
            return false;
        }
        out = m_bytes.subspan(m_at, count);
        m_at += count;
        return true;
    }
    /// A string as GGUF has it: a u64 length, then the bytes.
    [[nodiscard]] bool readString(std::string_view& out) {
        const std::size_t before = m_at;
        std::uint64_t length = 0;
        std::span<const std::byte> text;
        if (!read(length) || !take(length, text)) {
            m_at = before;
            return false;
        }
        out = {reinterpret_cast<const char*>(text.data()), text.size()};
        return true;
    }
    /// The bytes from `position` to here.
    [[nodiscard]] std::span<const std::byte> since(std::size_t position) const {
        return m_bytes.subspan(position, m_at - position);
    }

private:
    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
};

}  // namespace quern::engine
