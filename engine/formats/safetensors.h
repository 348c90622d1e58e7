#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/formats/file_mapping.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine {

struct SafetensorsEntry {
    std::string name;
    std::string dtype;                   // as the file writes it: "BF16"
    std::optional<kernels::DType> type;  // absent for types that are none of ours: "I64"
    kernels::Shape shape;
    std::span<const std::byte> data;
};

/// Checks and reads the bytes of one safetensors file. Views point into `bytes`. kCorrupt names the
/// field or tensor: header length and JSON, dtype, shape (at most 4 dimensions), offsets (inside,
/// as long as dtype and shape say, not overlapping, and leaving out no byte of the data). Format:
/// github.com/huggingface/safetensors.
[[nodiscard]] Result<std::vector<SafetensorsEntry>> parseSafetensors(
    std::span<const std::byte> bytes);

/// The tensors of a Hugging Face folder: model.safetensors, or the files of
/// model.safetensors.index.json. Mapped. Immutable; any thread.
class SafetensorsModel {
public:
    /// kNotFound when the folder has neither; kCorrupt names the file and field.
    [[nodiscard]] static Result<std::shared_ptr<const SafetensorsModel>> open(
        const std::filesystem::path& folder);

    [[nodiscard]] std::span<const SafetensorsEntry> entries() const { return m_entries; }
    [[nodiscard]] std::int64_t fileBytes() const;
    void releasePages() const;

private:
    SafetensorsModel() = default;
    std::vector<std::shared_ptr<const FileMapping>> m_mappings;
    std::vector<SafetensorsEntry> m_entries;
};

}  // namespace quern::engine
