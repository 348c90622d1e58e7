#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/gguf_metadata.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine::convert {

/// The metadata of a GGUF file that is being written, in the order of the calls. One thread.
class GgufKeys {
public:
    void string(std::string_view key, std::string_view value);
    void u32(std::string_view key, std::uint32_t value);
    void f32(std::string_view key, float value);
    void boolean(std::string_view key, bool value);
    void strings(std::string_view key, std::span<const std::string_view> values);
    void u32s(std::string_view key, std::span<const std::uint32_t> values);
    void i32s(std::string_view key, std::span<const std::int32_t> values);
    void f32s(std::string_view key, std::span<const float> values);
    void booleans(std::string_view key, const std::vector<bool>& values);
    void byteArray(std::string_view key, std::string_view bytes);
    /// A value of another file as it is there.
    void copy(std::string_view key, const GgufValue& value);

    [[nodiscard]] std::uint64_t count() const { return m_count; }
    [[nodiscard]] const std::string& bytes() const { return m_bytes; }

private:
    void begin(std::string_view key, GgufType type);
    void beginArray(std::string_view key, GgufType type, std::uint64_t count);

    std::string m_bytes;
    std::uint64_t m_count = 0;
};

struct GgufTensorPlan {
    std::string name;
    kernels::DType type = kernels::DType::kF32;
    kernels::Shape shape;
};

/// The layout of a file: what stands before the tensors' data, and where each begins.
struct GgufLayout {
    std::string header;                 // padded to where the data begins
    std::vector<std::int64_t> offsets;  // [tensors], in the data
    std::vector<std::int64_t> bytes;    // [tensors]
    std::int64_t fileBytes = 0;
};

inline constexpr std::int64_t kGgufAlignment = 32;

/// kInvalidArgument names the tensor whose name is too long (63 bytes are allowed) or whose rows
/// are not whole blocks; kUnsupported a type that the format cannot hold.
[[nodiscard]] Result<GgufLayout> layOut(const GgufKeys& keys,
                                        std::span<const GgufTensorPlan> tensors);

}  // namespace quern::engine::convert
