#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/formats/gguf_metadata.h"
#include "kernels/result.h"

namespace quern::engine {

/// Reads keys under "<architecture>.". The first error stays, so that a model is read without a
/// check a line. One thread; borrows the metadata.
class GgufKeys {
public:
    GgufKeys(const GgufMetadata& metadata, std::string_view architecture)
        : m_metadata(metadata), m_prefix(std::string(architecture) + ".") {}

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    void setError(Error error) {
        if (!m_error) {
            m_error = std::move(error);
        }
    }
    [[nodiscard]] bool has(std::string_view key) const { return m_metadata.has(full(key)); }
    [[nodiscard]] std::string full(std::string_view key) const {
        return m_prefix + std::string(key);
    }

    std::int64_t integer(std::string_view key) {
        // A model without it breaks its format: not the same as a file that is not there.
        auto value = m_metadata.integer(full(key));
        return take(value, std::int64_t{0});
    }
    std::int64_t integerOr(std::string_view key, std::int64_t fallback) {
        auto value = m_metadata.integerOr(full(key), fallback);
        return take(value, fallback);
    }
    double numberOr(std::string_view key, double fallback) {
        auto value = m_metadata.numberOr(full(key), fallback);
        return take(value, fallback);
    }
    bool booleanOr(std::string_view key, bool fallback) {
        auto value = m_metadata.booleanOr(full(key), fallback);
        return take(value, fallback);
    }
    std::string_view stringOr(std::string_view key, std::string_view fallback) {
        auto value = m_metadata.stringOr(full(key), fallback);
        return take(value, fallback);
    }
    /// One number for all layers, or an array of one a layer.
    std::vector<std::int64_t> byLayer(std::string_view key, std::int64_t layers) {
        const auto count = static_cast<std::size_t>(layers);
        const GgufValue* value = m_metadata.find(full(key));
        if (value == nullptr || !value->isArray) {
            return std::vector<std::int64_t>(count, integer(key));
        }
        auto numbers = m_metadata.integers(full(key));
        if (!numbers) {
            setError(std::move(numbers.error()));
            return std::vector<std::int64_t>(count, 0);
        }
        if (numbers->size() != count) {
            setError({.code = ErrorCode::kCorrupt,
                      .message = "metadata key " + quotedName(full(key)) + " has " +
                                 std::to_string(numbers->size()) + " elements for " +
                                 std::to_string(count) + " layers"});
            return std::vector<std::int64_t>(count, 0);
        }
        std::vector<std::int64_t> values;
        values.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            values.push_back((*numbers)[i]);
        }
        return values;
    }

private:
    template <class T>
    T take(Result<T>& value, T fallback) {
        if (value) {
            return *value;
        }
        value.error().code = ErrorCode::kCorrupt;
        setError(std::move(value.error()));
        return fallback;
    }

    const GgufMetadata& m_metadata;
    std::string m_prefix;
    std::optional<Error> m_error;
};

}  // namespace quern::engine
