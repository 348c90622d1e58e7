#pragma once

#include <filesystem>
#include <functional>
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
/// Immutable but for release(); any thread. Views live as long as the source or until their
/// release.
class TensorSource {
public:
    virtual ~TensorSource() = default;
    /// Absent when the model has no such tensor.
    [[nodiscard]] virtual std::optional<kernels::TensorView> find(std::string_view name) const = 0;
    /// All canonical names.
    [[nodiscard]] virtual std::vector<std::string> names() const = 0;
    /// Tells the system that mapped pages are not needed now; they come back when they are read.
    virtual void releasePages() const = 0;
    /// Gives up the bytes of a view, which is not used any more: what is held for it alone is
    /// freed. At most once for bytes of it.
    virtual void release(const kernels::TensorView& view) = 0;
};

struct MatrixLayout;

struct ModelSource {
    ModelInfo info;
    ModelSpec spec;
    std::shared_ptr<const MatrixLayout> layout;  // for adapters of it; null: it takes none
    std::unique_ptr<TensorSource> tensors;
};

/// Asked, once its headers are read, whether a model may be opened; an error is openModel's.
using AdmitModel = std::function<Status(const ModelInfo&)>;

/// Opens a GGUF file or a Hugging Face folder, by what it is. Before `admit` (which may be empty)
/// no more of the weights is read than scales and norms of heads; rearranging them, which can take
/// as much memory as they do, comes after it. Every count, length, offset and product in it is
/// checked before use; nothing is allocated beyond what the file's size justifies. kNotFound,
/// kCorrupt (names the field) or kUnsupported (names the architecture, what is missing and the
/// nearest that is there).
[[nodiscard]] Result<ModelSource> openModel(const std::filesystem::path& model,
                                            const AdmitModel& admit = {});

}  // namespace quern::engine
