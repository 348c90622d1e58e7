#pragma once

#include <filesystem>
#include <memory>

#include "engine/formats/architecture.h"
#include "engine/formats/hyperparameters.h"
#include "engine/formats/model_source.h"
#include "engine/formats/tensor_table.h"
#include "engine/formats/weight_scales.h"

namespace quern::engine {

/// A model whose headers are read: everything but the rearranging of tensors.
struct ReadModel {
    ModelInfo info;
    const Architecture* architecture = nullptr;
    Hyperparameters parameters;
    ModelSpec spec;
    std::unique_ptr<TensorTable> tensors;  // canonical names; fused ones are still fused
    bool isTransposed = false;             // matrices of layers are [in, out]
    bool areExpertsInterleaved = false;    // see ExpertRules
    ScaleMap scales;                       // of matrices that are not yet the real weights
};

/// The header's facts of a GGUF file or a Hugging Face folder, whatever its architecture.
[[nodiscard]] Result<ModelInfo> describeGguf(const std::filesystem::path& path);
[[nodiscard]] Result<ModelInfo> describeHfFolder(const std::filesystem::path& folder);

/// Errors as openModel.
[[nodiscard]] Result<ReadModel> readGguf(const std::filesystem::path& path);
[[nodiscard]] Result<ReadModel> readHfFolder(const std::filesystem::path& folder);

/// Scales, transposes and splits what is stored otherwise. Copies only what cannot be a view.
[[nodiscard]] Status arrangeTensors(ReadModel& model);

}  // namespace quern::engine
