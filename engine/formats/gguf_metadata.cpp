#include "engine/formats/gguf_metadata.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <type_traits>

namespace quern::engine {

namespace {

constexpr std::array<std::string_view, 13> kTypeNames{
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::array<std::size_t, 13> kTypeBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

template <class T>
T load(const std::byte* at) {
    T value{};
    std::memcpy(&value, at, sizeof(T));
    return value;
}

bool isInteger(GgufType type) {
    return type != GgufType::kF32 && type != GgufType::kF64 && type != GgufType::kString &&
           type != GgufType::kArray;
}

bool isNumber(GgufType type) {
    return type != GgufType::kString && type != GgufType::kArray;
}

// Absent when an unsigned value does not fit.
std::optional<std::int64_t> loadInteger(GgufType type, const std::byte* at) {
    switch (type) {
        case GgufType::kU8:
            return load<std::uint8_t>(at);
        case GgufType::kI8:
            return load<std::int8_t>(at);
        case GgufType::kU16:
            return load<std::uint16_t>(at);
        case GgufType::kI16:
            return load<std::int16_t>(at);
        case GgufType::kU32:
            return load<std::uint32_t>(at);
        case GgufType::kI32:
            return load<std::int32_t>(at);
        case GgufType::kBool:
            return load<std::uint8_t>(at) != 0 ? 1 : 0;
        case GgufType::kI64:
            return load<std::int64_t>(at);
        case GgufType::kU64: {
            const auto value = load<std::uint64_t>(at);
            if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                return std::nullopt;
            }
            return static_cast<std::int64_t>(value);
        }
        default:
            return std::nullopt;
    }
}

double loadNumber(GgufType type, const std::byte* at) {
    switch (type) {
        case GgufType::kF32:
            return static_cast<double>(load<float>(at));
        case GgufType::kF64:
            return load<double>(at);
        case GgufType::kU64:
            return static_cast<double>(load<std::uint64_t>(at));
        default:
            return static_cast<double>(loadInteger(type, at).value_or(0));
    }
}

std::string_view loadString(const GgufValue& value) {
    return *GgufStrings(value).begin();
}

std::string typeText(const GgufValue& value) {
    return (value.isArray ? "array of " : "") + std::string(ggufTypeName(value.type));
}

tl::unexpected<Error> wrongType(std::string_view key, const GgufValue& value,
                                std::string_view wanted) {
    return fail(ErrorCode::kCorrupt, "metadata key " + quotedName(key) + " is of type " +
                                         typeText(value) + "; " + std::string(wanted) +
                                         " was expected");
}

std::string numberText(const GgufValue& value, std::uint64_t index) {
    const std::byte* at = value.bytes.data() + index * ggufTypeBytes(value.type);
    if (value.type == GgufType::kBool) {
        return load<std::uint8_t>(at) != 0 ? "true" : "false";
    }
    if (value.type == GgufType::kU64) {
        return std::to_string(load<std::uint64_t>(at));
    }
    if (isInteger(value.type)) {
        return std::to_string(loadInteger(value.type, at).value_or(0));
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.9g", loadNumber(value.type, at));
    return text.data();
}

// At most the first 256 bytes, never cut inside a UTF-8 sequence.
std::string cutText(std::string_view text) {
    constexpr std::size_t kShownBytes = 256;
    std::size_t end = std::min(text.size(), kShownBytes);
    while (end < text.size() && end > 0 &&
           (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return std::string(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

// The getter's result, or `fallback` when the key is absent.
template <class T>
Result<T> orElse(const GgufMetadata& metadata, std::string_view key, T fallback,
                 Result<T> (GgufMetadata::*getter)(std::string_view) const) {
    return metadata.has(key) ? (metadata.*getter)(key) : Result<T>(fallback);
}

}  // namespace

std::string_view ggufTypeName(GgufType type) {
    const auto index = static_cast<std::size_t>(type);
    return index < kTypeNames.size() ? kTypeNames[index] : "unknown";
}

std::size_t ggufTypeBytes(GgufType type) {
    const auto index = static_cast<std::size_t>(type);
    return index < kTypeBytes.size() ? kTypeBytes[index] : 0;
}

template <class T>
T GgufNumbers<T>::operator[](std::size_t index) const {
    const std::byte* at = m_value.bytes.data() + index * ggufTypeBytes(m_value.type);
    if constexpr (std::is_same_v<T, double>) {
        return loadNumber(m_value.type, at);
    } else {
        // Arrays with a u64 element that does not fit are refused when the array is asked for.
        return loadInteger(m_value.type, at).value_or(0);
    }
}

template class GgufNumbers<std::int64_t>;
template class GgufNumbers<double>;

const GgufValue* GgufMetadata::find(std::string_view key) const {
    const auto found = m_index.find(key);
    return found == m_index.end() ? nullptr : &m_entries[found->second].second;
}

bool GgufMetadata::add(std::string_view key, const GgufValue& value) {
    if (!m_index.emplace(key, m_entries.size()).second) {
        return false;
    }
    m_entries.emplace_back(key, value);
    return true;
}

Result<GgufValue> GgufMetadata::scalar(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) {
        return fail(ErrorCode::kNotFound, "metadata key " + quotedName(key) + " is missing");
    }
    if (value->isArray) {
        return wrongType(key, *value, "a single value");
    }
    return *value;
}

Result<GgufValue> GgufMetadata::array(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) {
        return fail(ErrorCode::kNotFound, "metadata key " + quotedName(key) + " is missing");
    }
    if (!value->isArray) {
        return wrongType(key, *value, "an array");
    }
    return *value;
}

Result<std::string_view> GgufMetadata::string(std::string_view key) const {
    auto value = scalar(key);
    if (!value) {
        return forward(value);
    }
    if (value->type != GgufType::kString) {
        return wrongType(key, *value, "string");
    }
    return loadString(*value);
}

Result<std::int64_t> GgufMetadata::integer(std::string_view key) const {
    auto value = scalar(key);
    if (!value) {
        return forward(value);
    }
    if (!isInteger(value->type) || value->type == GgufType::kBool) {
        return wrongType(key, *value, "an integer");
    }
    const auto number = loadInteger(value->type, value->bytes.data());
    if (!number) {
        return fail(ErrorCode::kCorrupt,
                    "metadata key " + quotedName(key) + " holds an integer beyond 2^63 - 1");
    }
    return *number;
}

Result<double> GgufMetadata::number(std::string_view key) const {
    auto value = scalar(key);
    if (!value) {
        return forward(value);
    }
    if (!isNumber(value->type) || value->type == GgufType::kBool) {
        return wrongType(key, *value, "a number");
    }
    return loadNumber(value->type, value->bytes.data());
}

Result<bool> GgufMetadata::boolean(std::string_view key) const {
    auto value = scalar(key);
    if (!value) {
        return forward(value);
    }
    if (value->type != GgufType::kBool) {
        return wrongType(key, *value, "bool");
    }
    return load<std::uint8_t>(value->bytes.data()) != 0;
}

Result<std::string_view> GgufMetadata::stringOr(std::string_view key,
                                                std::string_view fallback) const {
    return orElse(*this, key, fallback, &GgufMetadata::string);
}

Result<std::int64_t> GgufMetadata::integerOr(std::string_view key, std::int64_t fallback) const {
    return orElse(*this, key, fallback, &GgufMetadata::integer);
}

Result<double> GgufMetadata::numberOr(std::string_view key, double fallback) const {
    return orElse(*this, key, fallback, &GgufMetadata::number);
}

Result<bool> GgufMetadata::booleanOr(std::string_view key, bool fallback) const {
    return orElse(*this, key, fallback, &GgufMetadata::boolean);
}

Result<GgufStrings> GgufMetadata::strings(std::string_view key) const {
    auto value = array(key);
    if (!value) {
        return forward(value);
    }
    if (value->type != GgufType::kString) {
        return wrongType(key, *value, "array of string");
    }
    return GgufStrings(*value);
}

Result<GgufNumbers<std::int64_t>> GgufMetadata::integers(std::string_view key) const {
    auto value = array(key);
    if (!value) {
        return forward(value);
    }
    if (!isInteger(value->type)) {
        return wrongType(key, *value, "array of integers");
    }
    if (value->type == GgufType::kU64) {
        for (std::size_t i = 0; i < value->count; ++i) {
            if (!loadInteger(value->type, value->bytes.data() + i * sizeof(std::uint64_t))) {
                return fail(ErrorCode::kCorrupt, "metadata key " + quotedName(key) + " element " +
                                                     std::to_string(i) + " is beyond 2^63 - 1");
            }
        }
    }
    return GgufNumbers<std::int64_t>(*value);
}

Result<GgufNumbers<double>> GgufMetadata::numbers(std::string_view key) const {
    auto value = array(key);
    if (!value) {
        return forward(value);
    }
    if (!isNumber(value->type)) {
        return wrongType(key, *value, "array of numbers");
    }
    return GgufNumbers<double>(*value);
}

std::string quotedName(std::string_view name) {
    constexpr std::size_t kShown = 96;
    std::string text = "'";
    for (const char c : name.substr(0, kShown)) {
        text += c >= ' ' && c <= '~' ? c : '?';
    }
    return text + (name.size() > kShown ? "…'" : "'");
}

std::string describeValue(const GgufValue& value) {
    constexpr std::uint64_t kShownElements = 6;
    auto text = [&, next = GgufStrings(value).begin()](std::uint64_t index) mutable {
        return value.type == GgufType::kString ? cutText(*next++) : numberText(value, index);
    };
    if (!value.isArray) {
        return text(0);
    }
    std::string all = "[";
    const std::uint64_t shown = std::min(value.count, kShownElements);
    for (std::uint64_t i = 0; i < shown; ++i) {
        all += (i == 0 ? "" : ", ") + text(i);
    }
    return all + (value.count > shown ? ", … " + std::to_string(value.count) + " elements]" : "]");
}

}  // namespace quern::engine
