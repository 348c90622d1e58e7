#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/result.h"

namespace quern::engine {

/// Value types of GGUF metadata, with the numbers of the format.
enum class GgufType : std::uint32_t {
    kU8 = 0,
    kI8 = 1,
    kU16 = 2,
    kI16 = 3,
    kU32 = 4,
    kI32 = 5,
    kF32 = 6,
    kBool = 7,
    kString = 8,
    kArray = 9,
    kU64 = 10,
    kI64 = 11,
    kF64 = 12,
};
[[nodiscard]] std::string_view ggufTypeName(GgufType type);
/// Bytes of a value of that type; 0 for strings and arrays.
[[nodiscard]] std::size_t ggufTypeBytes(GgufType type);

/// A value as it lies in the file: bounds were checked when it was read, nothing was copied.
struct GgufValue {
    GgufType type = GgufType::kU8;  // of the elements, for an array
    bool isArray = false;
    std::uint64_t count = 1;           // elements
    std::span<const std::byte> bytes;  // strings: a u64 length and the bytes, one after the other
};

/// The strings of an array, one after the other, as views into the file. A forward range:
/// `std::vector<std::string_view> tokens(array.begin(), array.end())`.
class GgufStrings {
public:
    class Iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = std::string_view;
        using difference_type = std::ptrdiff_t;
        using pointer = const std::string_view*;
        using reference = std::string_view;

        Iterator() = default;
        Iterator(const std::byte* at, std::uint64_t index) : m_at(at), m_index(index) {}
        std::string_view operator*() const {
            return {reinterpret_cast<const char*>(m_at) + sizeof(std::uint64_t), length()};
        }
        Iterator& operator++() {
            m_at += sizeof(std::uint64_t) + length();
            ++m_index;
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator& other) const { return m_index == other.m_index; }

    private:
        [[nodiscard]] std::size_t length() const {
            std::uint64_t value = 0;
            std::memcpy(&value, m_at, sizeof(value));
            return value;
        }
        const std::byte* m_at = nullptr;
        std::uint64_t m_index = 0;
    };

    GgufStrings() = default;
    explicit GgufStrings(const GgufValue& value) : m_value(value) {}
    [[nodiscard]] std::size_t size() const { return m_value.bytes.empty() ? 0 : m_value.count; }
    [[nodiscard]] Iterator begin() const { return {m_value.bytes.data(), 0}; }
    [[nodiscard]] Iterator end() const { return {nullptr, size()}; }

private:
    GgufValue m_value;
};

/// The numbers of an array of any numeric type (or bools), converted when read. T is std::int64_t
/// or double.
template <class T>
class GgufNumbers {
public:
    GgufNumbers() = default;
    explicit GgufNumbers(const GgufValue& value) : m_value(value) {}
    [[nodiscard]] std::size_t size() const { return m_value.bytes.empty() ? 0 : m_value.count; }
    /// `index` < size().
    [[nodiscard]] T operator[](std::size_t index) const;

private:
    GgufValue m_value;
};
extern template class GgufNumbers<std::int64_t>;
extern template class GgufNumbers<double>;

/// The metadata of a GGUF file: typed values under their keys. Getters give kNotFound for a key
/// that is absent and kCorrupt for a value of another type or out of range, both naming the key;
/// the …Or forms give `fallback` when the key is absent. Views live as long as the file.
class GgufMetadata {
public:
    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    [[nodiscard]] const GgufValue* find(std::string_view key) const;
    /// All entries in the order of the file.
    [[nodiscard]] std::span<const std::pair<std::string_view, GgufValue>> entries() const {
        return m_entries;
    }

    [[nodiscard]] Result<std::string_view> string(std::string_view key) const;
    [[nodiscard]] Result<std::string_view> stringOr(std::string_view key,
                                                    std::string_view fallback) const;
    /// Any integer type whose value fits.
    [[nodiscard]] Result<std::int64_t> integer(std::string_view key) const;
    [[nodiscard]] Result<std::int64_t> integerOr(std::string_view key, std::int64_t fallback) const;
    /// Any float or integer type.
    [[nodiscard]] Result<double> number(std::string_view key) const;
    [[nodiscard]] Result<double> numberOr(std::string_view key, double fallback) const;
    [[nodiscard]] Result<bool> boolean(std::string_view key) const;
    [[nodiscard]] Result<bool> booleanOr(std::string_view key, bool fallback) const;

    [[nodiscard]] Result<GgufStrings> strings(std::string_view key) const;
    /// An array of any integer type or of bools.
    [[nodiscard]] Result<GgufNumbers<std::int64_t>> integers(std::string_view key) const;
    /// An array of any numeric type.
    [[nodiscard]] Result<GgufNumbers<double>> numbers(std::string_view key) const;

    /// False, changing nothing, when the key is there already.
    [[nodiscard]] bool add(std::string_view key, const GgufValue& value);

private:
    [[nodiscard]] Result<GgufValue> scalar(std::string_view key) const;
    [[nodiscard]] Result<GgufValue> array(std::string_view key) const;

    std::vector<std::pair<std::string_view, GgufValue>> m_entries;
    std::unordered_map<std::string_view, std::size_t> m_index;
};

/// A key or name from a file, made fit for a message: cut if long, bytes that are not printable
/// ASCII replaced.
[[nodiscard]] std::string quotedName(std::string_view name);

/// A value as text for people; long strings are cut, of long arrays the first elements are shown.
[[nodiscard]] std::string describeValue(const GgufValue& value);

}  // namespace quern::engine
