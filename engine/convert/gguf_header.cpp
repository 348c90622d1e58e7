#include "engine/convert/gguf_header.h"

#include <limits>
#include <type_traits>

#include "engine/formats/gguf_types.h"
#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

template <class T>
void append(std::string& out, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void appendString(std::string& out, std::string_view text) {
    append(out, static_cast<std::uint64_t>(text.size()));
    out += text;
}

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + kGgufAlignment - 1) / kGgufAlignment * kGgufAlignment;
}

Result<std::int64_t> tensorBytes(const GgufTensorPlan& tensor) {
    constexpr std::size_t kMostNameBytes = 63;
    if (tensor.name.size() > kMostNameBytes) {
        return fail(ErrorCode::kInvalidArgument, "the name of tensor " + quotedName(tensor.name) +
                                                     " has " + std::to_string(tensor.name.size()) +
                                                     " bytes; GGUF allows 63");
    }
    auto row = kernels::rowBytes(tensor.type, tensor.shape.cols());
    if (!row) {
        row.error().message = "tensor " + quotedName(tensor.name) + ": " + row.error().message;
        return row;
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(*row, tensor.shape.rows(), &bytes)) {
        return fail(ErrorCode::kInvalidArgument,
                    "tensor " + quotedName(tensor.name) + " has more than 2^63 - 1 bytes");
    }
    return bytes;
}

}  // namespace

void GgufKeys::begin(std::string_view key, GgufType type) {
    appendString(m_bytes, key);
    append(m_bytes, static_cast<std::uint32_t>(type));
    ++m_count;
}

void GgufKeys::beginArray(std::string_view key, GgufType type, std::uint64_t count) {
    begin(key, GgufType::kArray);
    append(m_bytes, static_cast<std::uint32_t>(type));
    append(m_bytes, count);
}

void GgufKeys::string(std::string_view key, std::string_view value) {
    begin(key, GgufType::kString);
    appendString(m_bytes, value);
}

void GgufKeys::u32(std::string_view key, std::uint32_t value) {
    begin(key, GgufType::kU32);
    append(m_bytes, value);
}

void GgufKeys::f32(std::string_view key, float value) {
    begin(key, GgufType::kF32);
    append(m_bytes, value);
}

void GgufKeys::boolean(std::string_view key, bool value) {
    begin(key, GgufType::kBool);
    append(m_bytes, static_cast<std::uint8_t>(value ? 1 : 0));
}

void GgufKeys::strings(std::string_view key, std::span<const std::string_view> values) {
    beginArray(key, GgufType::kString, values.size());
    for (const std::string_view value : values) {
        appendString(m_bytes, value);
    }
}

void GgufKeys::u32s(std::string_view key, std::span<const std::uint32_t> values) {
    beginArray(key, GgufType::kU32, values.size());
    for (const std::uint32_t value : values) {
        append(m_bytes, value);
    }
}

void GgufKeys::i32s(std::string_view key, std::span<const std::int32_t> values) {
    beginArray(key, GgufType::kI32, values.size());
    for (const std::int32_t value : values) {
        append(m_bytes, value);
    }
}

void GgufKeys::f32s(std::string_view key, std::span<const float> values) {
    beginArray(key, GgufType::kF32, values.size());
    for (const float value : values) {
        append(m_bytes, value);
    }
}

void GgufKeys::booleans(std::string_view key, const std::vector<bool>& values) {
    beginArray(key, GgufType::kBool, values.size());
    for (const bool value : values) {
        append(m_bytes, static_cast<std::uint8_t>(value ? 1 : 0));
    }
}

void GgufKeys::byteArray(std::string_view key, std::string_view bytes) {
    beginArray(key, GgufType::kU8, bytes.size());
    m_bytes += bytes;
}

void GgufKeys::copy(std::string_view key, const GgufValue& value) {
    if (value.isArray) {
        beginArray(key, value.type, value.count);
    } else {
        begin(key, value.type);
    }
    m_bytes.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
}

Result<GgufLayout> layOut(const GgufKeys& keys, std::span<const GgufTensorPlan> tensors) {
    GgufLayout layout;
    std::string& out = layout.header;
    out = "GGUF";
    append(out, std::uint32_t{3});
    append(out, static_cast<std::uint64_t>(tensors.size()));
    append(out, keys.count());
    out += keys.bytes();
    std::int64_t at = 0;
    for (const GgufTensorPlan& tensor : tensors) {
        auto bytes = tensorBytes(tensor);
        if (!bytes) {
            return forward(bytes);
        }
        const auto ggmlType = ggmlTypeOf(tensor.type);
        if (!ggmlType) {
            return fail(ErrorCode::kUnsupported,
                        "tensor " + quotedName(tensor.name) + ": GGUF has no type " +
                            std::string(kernels::traits(tensor.type).name));
        }
        appendString(out, tensor.name);
        append(out, static_cast<std::uint32_t>(tensor.shape.rank));
        for (int i = tensor.shape.rank - 1; i >= 0; --i) {
            append(out, tensor.shape.dims[static_cast<std::size_t>(i)]);
        }
        append(out, *ggmlType);
        append(out, at);
        layout.offsets.push_back(at);
        layout.bytes.push_back(*bytes);
        if (*bytes > std::numeric_limits<std::int64_t>::max() / 2 - at) {
            return fail(ErrorCode::kInvalidArgument, "the tensors have more than 2^62 bytes");
        }
        at += aligned(*bytes);
    }
    out.resize(static_cast<std::size_t>(aligned(static_cast<std::int64_t>(out.size()))), '\0');
    layout.fileBytes = static_cast<std::int64_t>(out.size()) + at;
    return layout;
}

}  // namespace quern::engine::convert
