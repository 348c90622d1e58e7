#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/formats/file_mapping.h"
#include "engine/formats/gguf_metadata.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine {

struct GgufTensor {
    std::string_view name;
    kernels::TensorView view;  // shape outermost first, without trailing ones of GGUF's `ne`
    std::int64_t bytes = 0;
};

/// A GGUF model, version 2 or 3, little endian: one file, or all files of a split one. Mapped,
/// never copied. Everything in it was checked when it was opened: what the getters give is inside
/// the file. Immutable; any thread. Format: github.com/ggml-org/ggml/blob/master/docs/gguf.md.
class GgufFile {
public:
    /// Opens `path`; where it is one of a split model's files, all of them, whichever is named.
    /// kNotFound, kCorrupt naming the field or tensor, kUnsupported for version 1, big-endian files
    /// and tensor types that have no reader.
    [[nodiscard]] static Result<std::shared_ptr<const GgufFile>> open(
        const std::filesystem::path& path);

    /// Whether the file begins as a GGUF file does. False for what cannot be read.
    [[nodiscard]] static bool isGguf(const std::filesystem::path& path);

    [[nodiscard]] std::uint32_t version() const { return m_version; }
    /// Of the first file; the others of a split model repeat none of it.
    [[nodiscard]] const GgufMetadata& metadata() const { return m_metadata; }
    /// Of all files, in their order.
    [[nodiscard]] std::span<const GgufTensor> tensors() const { return m_tensors; }
    /// Null when there is no such tensor.
    [[nodiscard]] const GgufTensor* find(std::string_view name) const;
    /// Bytes of all files.
    [[nodiscard]] std::int64_t fileBytes() const;
    void releasePages() const;

private:
    GgufFile() = default;
    std::vector<std::shared_ptr<const FileMapping>> m_mappings;
    std::uint32_t m_version = 0;
    GgufMetadata m_metadata;
    std::vector<GgufTensor> m_tensors;
    std::unordered_map<std::string_view, std::size_t> m_index;
};

}  // namespace quern::engine
