#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/formats/gguf_metadata.h"

namespace quern::test {

/// Appends a value's little-endian bytes.
template <class T>
void appendBytes(std::string& out, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// Writes GGUF files for tests: right ones, and wrong ones, for nothing is checked. The raw fields
/// may be set to anything between the calls. One thread.
class GgufBuilder {
public:
    std::string magic = "GGUF";
    std::uint32_t version = 3;
    std::uint64_t alignment = 32;  // of the tensor data; add general.alignment to say another

    struct Tensor {
        std::string name;
        std::vector<std::uint64_t> ne;  // innermost first, as in the file
        std::uint32_t ggmlType = 0;
        std::uint64_t offset = 0;  // in the data part
    };
    std::vector<Tensor> tensors;
    std::string data;  // of the tensors
    /// What the header says, where it is to differ from the truth.
    std::uint64_t extraKeys = 0;
    std::uint64_t extraTensors = 0;

    GgufBuilder& string(std::string_view key, std::string_view value);
    GgufBuilder& u32(std::string_view key, std::uint32_t value);
    GgufBuilder& f32(std::string_view key, float value);
    GgufBuilder& boolean(std::string_view key, bool value);
    GgufBuilder& strings(std::string_view key, const std::vector<std::string>& values);
    GgufBuilder& u32s(std::string_view key, const std::vector<std::uint32_t>& values);
    GgufBuilder& f32s(std::string_view key, const std::vector<float>& values);
    GgufBuilder& bools(std::string_view key, const std::vector<bool>& values);
    /// Any value: a type number and payload bytes as they are.
    GgufBuilder& raw(std::string_view key, std::uint32_t type, std::string_view payload);
    /// `count` keys' bytes as they are.
    GgufBuilder& rawKeys(std::string_view bytes, std::uint64_t count);

    /// A float32 tensor; `ne` innermost first. Zeros where `values` is empty.
    GgufBuilder& f32Tensor(std::string_view name, const std::vector<std::uint64_t>& ne,
                           std::span<const float> values = {});
    /// A tensor of any GGML type with these bytes.
    GgufBuilder& rawTensor(std::string_view name, const std::vector<std::uint64_t>& ne,
                           std::uint32_t ggmlType, std::string_view bytes);

    [[nodiscard]] std::string bytes() const;
    void write(const std::filesystem::path& path) const;

private:
    std::string m_keys;
    std::uint64_t m_keyCount = 0;
};

void writeFile(const std::filesystem::path& path, std::string_view bytes);

}  // namespace quern::test
