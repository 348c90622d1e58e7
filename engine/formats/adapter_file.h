#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/adapter.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine {

/// What an adapter's file adds to one matrix, under the file's own name of it:
/// "model.layers.3.self_attn.q_proj" (PEFT), "blk.3.attn_q.weight" (GGUF).
struct AdapterFilePart {
    std::string name;
    kernels::TensorView a;  // [rank, inputs], rank ≥ 1
    kernels::TensorView b;  // [outputs, rank]
    float scale = 1.0F;     // finite
};

/// An adapter whose header is read and checked: each A has its B and the ranks agree. Views live as
/// long as `file`.
struct AdapterFile {
    AdapterInfo info;
    bool isGguf = false;
    std::string architecture;  // GGUF only
    std::vector<AdapterFilePart> parts;
    std::shared_ptr<const void> file;
};

/// Errors as inspectAdapter.
[[nodiscard]] Result<AdapterFile> readAdapterFile(const std::filesystem::path& path);

/// The same of one form. GGUF: github.com/ggml-org/llama.cpp/blob/master/convert_lora_to_gguf.py;
/// PEFT: huggingface.co/docs/peft/developer_guides/checkpoint.
[[nodiscard]] Result<AdapterFile> readGgufAdapter(const std::filesystem::path& path);
[[nodiscard]] Result<AdapterFile> readPeftAdapter(const std::filesystem::path& folder);

/// Which half of a part a tensor is.
enum class AdapterHalf { kA, kB };

/// Puts tensors together to parts. Belongs to one thread.
class AdapterParts {
public:
    /// kCorrupt: there twice, no matrix, or of a type that cannot be computed with.
    [[nodiscard]] Status add(const std::string& part, AdapterHalf half, const std::string& tensor,
                             kernels::TensorView view);
    /// By name, with a scale of 1. kCorrupt names what lacks its other half or has another rank.
    [[nodiscard]] Result<std::vector<AdapterFilePart>> take();

private:
    struct Part {
        bool hasA = false;
        bool hasB = false;
        AdapterFilePart part;
    };
    std::map<std::string, Part> m_parts;
};

/// Fills in what the parts tell: rank, count and bytes.
void describeParts(AdapterFile& adapter);

}  // namespace quern::engine
