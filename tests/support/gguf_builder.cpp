#include "tests/support/gguf_builder.h"

#include <fstream>
#include <numeric>
#include <stdexcept>

namespace quern::test {

using engine::GgufType;

namespace {

void appendString(std::string& out, std::string_view text) {
    appendBytes(out, static_cast<std::uint64_t>(text.size()));
    out += text;
}

template <class T>
std::string scalarBytes(const T& value) {
    std::string payload;
    appendBytes(payload, value);
    return payload;
}

template <class T, class Values>
std::string arrayBytes(GgufType type, const Values& values) {
    std::string payload;
    appendBytes(payload, static_cast<std::uint32_t>(type));
    appendBytes(payload, static_cast<std::uint64_t>(values.size()));
    for (const auto value : values) {
        appendBytes(payload, static_cast<T>(value));
    }
    return payload;
}

constexpr auto kArrayNumber = static_cast<std::uint32_t>(GgufType::kArray);

}  // namespace

GgufBuilder& GgufBuilder::raw(std::string_view key, std::uint32_t type, std::string_view payload) {
    appendString(m_keys, key);
    appendBytes(m_keys, type);
    m_keys += payload;
    ++m_keyCount;
    return *this;
}

GgufBuilder& GgufBuilder::rawKeys(std::string_view bytes, std::uint64_t count) {
    m_keys += bytes;
    m_keyCount += count;
    return *this;
}

GgufBuilder& GgufBuilder::string(std::string_view key, std::string_view value) {
    std::string payload;
    appendString(payload, value);
    return raw(key, static_cast<std::uint32_t>(GgufType::kString), payload);
}

GgufBuilder& GgufBuilder::u32(std::string_view key, std::uint32_t value) {
    return raw(key, static_cast<std::uint32_t>(GgufType::kU32), scalarBytes(value));
}

GgufBuilder& GgufBuilder::f32(std::string_view key, float value) {
    return raw(key, static_cast<std::uint32_t>(GgufType::kF32), scalarBytes(value));
}

GgufBuilder& GgufBuilder::boolean(std::string_view key, bool value) {
    return raw(key, static_cast<std::uint32_t>(GgufType::kBool),
               scalarBytes(static_cast<std::uint8_t>(value ? 1 : 0)));
}

GgufBuilder& GgufBuilder::strings(std::string_view key, const std::vector<std::string>& values) {
    std::string payload;
    appendBytes(payload, static_cast<std::uint32_t>(GgufType::kString));
    appendBytes(payload, static_cast<std::uint64_t>(values.size()));
    for (const std::string& value : values) {
        appendString(payload, value);
    }
    return raw(key, kArrayNumber, payload);
}

GgufBuilder& GgufBuilder::u32s(std::string_view key, const std::vector<std::uint32_t>& values) {
    return raw(key, kArrayNumber, arrayBytes<std::uint32_t>(GgufType::kU32, values));
}

GgufBuilder& GgufBuilder::f32s(std::string_view key, const std::vector<float>& values) {
    return raw(key, kArrayNumber, arrayBytes<float>(GgufType::kF32, values));
}

GgufBuilder& GgufBuilder::bools(std::string_view key, const std::vector<bool>& values) {
    return raw(key, kArrayNumber, arrayBytes<std::uint8_t>(GgufType::kBool, values));
}

GgufBuilder& GgufBuilder::rawTensor(std::string_view name, const std::vector<std::uint64_t>& ne,
                                    std::uint32_t ggmlType, std::string_view bytes) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    tensors.push_back(
        {.name = std::string(name), .ne = ne, .ggmlType = ggmlType, .offset = data.size()});
    data += bytes;
    return *this;
}

GgufBuilder& GgufBuilder::f32Tensor(std::string_view name, const std::vector<std::uint64_t>& ne,
                                    std::span<const float> values) {
    const std::uint64_t elements =
        std::accumulate(ne.begin(), ne.end(), std::uint64_t{1}, std::multiplies<>());
    std::string bytes(elements * sizeof(float), '\0');
    if (!values.empty()) {
        bytes.assign(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    }
    return rawTensor(name, ne, 0, bytes);
}

std::string GgufBuilder::bytes() const {
    std::string out = magic;
    appendBytes(out, version);
    appendBytes(out, static_cast<std::uint64_t>(tensors.size()) + extraTensors);
    appendBytes(out, m_keyCount + extraKeys);
    out += m_keys;
    for (const Tensor& tensor : tensors) {
        appendString(out, tensor.name);
        appendBytes(out, static_cast<std::uint32_t>(tensor.ne.size()));
        for (const std::uint64_t dim : tensor.ne) {
            appendBytes(out, dim);
        }
        appendBytes(out, tensor.ggmlType);
        appendBytes(out, tensor.offset);
    }
    if (!tensors.empty()) {
        out.resize((out.size() + alignment - 1) / alignment * alignment);
    }
    return out + data;
}

void GgufBuilder::write(const std::filesystem::path& path) const {
    writeFile(path, bytes());
}

void writeFile(const std::filesystem::path& path, std::string_view bytes) {
    // A file that is truncated and written again waits for the disk on ext4; a new one does not.
    std::filesystem::remove(path);
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

}  // namespace quern::test
