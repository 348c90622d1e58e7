#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/adapter.h"
#include "engine/formats/architecture.h"
#include "engine/formats/hyperparameters.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine {

/// How a model's file lays its matrices out: what an adapter that was made for another format of
/// the same model must be brought to.
struct MatrixLayout {
    const Architecture* architecture = nullptr;
    Hyperparameters parameters;
    bool isGguf = false;
};

/// What an adapter adds to one of a model's matrices.
struct AdapterMatrix {
    std::string weight;     // canonical: "blk.3.attn_q.weight", "output.weight"
    std::string name;       // the file's own name, for messages
    kernels::TensorView a;  // [rank, inputs]
    kernels::TensorView b;  // [outputs, rank], rows in the order of the model's file
    float scale = 1.0F;
};

/// An adapter under canonical names. Views live as long as `memory`. Whether the shapes are those
/// of the model is for its program to say.
struct AdapterSource {
    AdapterInfo info;
    std::vector<AdapterMatrix> matrices;
    std::shared_ptr<const void> memory;
};

/// Reads an adapter for a model of this layout: names, fused matrices and the order of rotated rows
/// become the model's. Errors as inspectAdapter; kInvalidArgument for an adapter of another
/// architecture or with a matrix that this one does not have, kCorrupt for numbers that are not
/// finite.
[[nodiscard]] Result<AdapterSource> openAdapter(const std::filesystem::path& path,
                                                const MatrixLayout& layout);

}  // namespace quern::engine
