#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/formats/architecture.h"
#include "engine/formats/tensor_table.h"
#include "engine/model/model_spec.h"
#include "kernels/result.h"

namespace quern::engine {

/// What a file says of its model's shape, whatever its format. Lists are by layer.
struct Hyperparameters {
    std::int64_t vocabSize = 0;
    std::int64_t hiddenSize = 0;
    std::int64_t contextTokens = 0;
    /// Behind the last layer: they guess tokens ahead, and nothing of the model's own answers
    /// passes them.
    std::int64_t guessingLayers = 0;
    std::vector<std::int64_t> heads;
    std::vector<std::int64_t> kvHeads;
    std::vector<std::int64_t> intermediate;
    std::vector<bool> keepsState;  // in place of attention
    StateSpec state;               // of those layers
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;

    float normEps = 1e-6F;
    float normOffset = 0.0F;
    kernels::Activation activation = kernels::Activation::kSilu;
    bool isParallel = false;
    bool hasMlp = true;

    std::vector<std::int64_t> window;  // 0: sees all
    std::vector<bool> hasRope;
    RopeSpec rope;
    std::optional<RopeSpec> localRope;  // of layers with a window, where it differs

    std::optional<double> attentionScale;  // absent: 1 / sqrt(keyDim)
    bool scalesByLayer = false;            // scores of layer n are divided by n, the first is 1
    float attentionSoftcap = 0.0F;
    float logitSoftcap = 0.0F;
    double embeddingScale = 1.0;
    double residualScale = 1.0;
    double logitScale = 1.0;         // what logits are multiplied by
    std::optional<bool> isHeadTied;  // absent: tied when there is no head
    FusedQkv fusedQkv = FusedQkv::kBlocks;

    LatentSpec latent;
    ExpertsSpec experts;           // of the layers that have them …
    std::vector<bool> hasExperts;  // … by layer; empty where none has
    std::int64_t positionOffset = 0;
    std::optional<Pooling> pooling;  // absent: the architecture's
    bool isScorer = false;           // has a head of scores over the pooled row

    [[nodiscard]] std::int64_t layers() const { return static_cast<std::int64_t>(heads.size()); }
    [[nodiscard]] bool isGuessingLayer(std::int64_t layer) const {
        return layer >= layers() && layer - layers() < guessingLayers;
    }
};

/// Refuses sizes that no product could survive; `tensors` bounds the number of layers, for each has
/// at least one.
[[nodiscard]] Status checkLayerCount(std::int64_t layers, std::size_t tensors,
                                     const std::string& field);

/// The windows of layers for which the file gave only a window: by the architecture's
/// rule, where it has one that needs no more. `pattern`: the file's own, 0 for the architecture's.
void applyWindowRule(const Architecture& architecture, std::int64_t window, std::int64_t pattern,
                     Hyperparameters& parameters);

/// Takes positions from every `interval`-th layer, beginning with layer `interval` - 1; 0: from
/// none.
void applyRopeInterval(std::int64_t interval, Hyperparameters& parameters);

/// Layers without a window have no positions, where the architecture says so and the model has a
/// `window` at all.
void applyRopeRule(const Architecture& architecture, std::int64_t window,
                   Hyperparameters& parameters);

/// Refuses tensors that the architecture is not known to have (kUnsupported, for leaving one out
/// would change the model without a word) and those of layers that are not there (kCorrupt).
[[nodiscard]] Status checkTensors(const Architecture& architecture,
                                  const Hyperparameters& parameters, const TensorTable& table);

/// Splits fused tensors of `table` (canonical names attn_qkv, ffn_gate_up) into views. kCorrupt
/// names the tensor whose rows are not what the parameters say.
[[nodiscard]] Status splitFused(const Hyperparameters& parameters, TensorTable& table);

/// Splits ffn_gate_up_shexp, in which a folder may have both matrices of the expert that all tokens
/// take, into views. kCorrupt as splitFused.
[[nodiscard]] Status splitSharedExperts(const Hyperparameters& parameters, TensorTable& table);

/// The spec. kCorrupt names the size that is wrong or the tensor that is missing.
[[nodiscard]] Result<ModelSpec> makeSpec(const Architecture& architecture,
                                         const Hyperparameters& parameters,
                                         const TensorTable& table);

}  // namespace quern::engine
