#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/model_spec.h"
#include "engine/model_info.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine {

/// A model's tensors under canonical names, those of GGUF without the suffix rules of any other
/// format: "token_embd.weight", "blk.3.attn_q.weight", "blk.3.attn_q.bias", "output_norm.weight",
/// "output.weight". Readers of other formats map their names, split fused tensors and transpose.
/// Immutable; any thread. Views live as long as the source.
class TensorSource {
public:
    virtual ~TensorSource() = default;
    /// Absent when the model has no such tensor.
    [[nodiscard]] virtual std::optional<kernels::TensorView> find(std::string_view name) const = 0;
    /// All canonical names.
    [[nodiscard]] virtual std::vector<std::string> names() const = 0;
    /// Tells the system that the mapped pages are no longer needed (after weights were taken over).
    virtual void releasePages() const = 0;
};

struct MatrixLayout;

struct ModelSource {
    ModelInfo info;
    ModelSpec spec;
    std::shared_ptr<const MatrixLayout> layout;  // for adapters of it; null: it takes none
    std::unique_ptr<TensorSource> tensors;
};

/// Opens a GGUF file or a Hugging Face folder, by what it is. Every count, length, offset and
/// product in it is checked before use; nothing is allocated beyond what the file's size justifies.
/// kNotFound, kCorrupt (names the field) or kUnsupported (names the architecture, what is missing
/// and the nearest that is there).
[[nodiscard]] Result<ModelSource> openModel(const std::filesystem::path& model);

}  // namespace quern::engine
