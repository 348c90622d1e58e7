#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/convert/gguf_header.h"

namespace quern::engine::convert {

/// Writes keys under "<architecture>.". Borrows the file's keys. One thread.
class PrefixedKeys {
public:
    PrefixedKeys(GgufKeys& keys, std::string_view architecture)
        : m_keys(keys), m_prefix(std::string(architecture) + ".") {}

    void size(std::string_view key, std::int64_t value) {
        // Sizes were checked when they were read: none comes near 2^32.
        m_keys.u32(full(key), static_cast<std::uint32_t>(value));
    }
    void number(std::string_view key, double value) {
        m_keys.f32(full(key), static_cast<float>(value));
    }
    void text(std::string_view key, std::string_view value) { m_keys.string(full(key), value); }
    void flag(std::string_view key, bool value) { m_keys.boolean(full(key), value); }
    /// One number where all layers agree.
    void byLayer(std::string_view key, const std::vector<std::int64_t>& values) {
        if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) ==
            values.end()) {
            size(key, values.front());
        } else {
            m_keys.u32s(full(key), std::vector<std::uint32_t>(values.begin(), values.end()));
        }
    }
    void flags(std::string_view key, const std::vector<bool>& values) {
        m_keys.booleans(full(key), values);
    }

private:
    [[nodiscard]] std::string full(std::string_view key) const {
        return m_prefix + std::string(key);
    }
    GgufKeys& m_keys;
    std::string m_prefix;
};

}  // namespace quern::engine::convert
