#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ops.h"

namespace quern::engine {

/// How positions enter a head. One per kind of layer that differs (Gemma 3 has two).
struct RopeSpec {
    enum class Scaling : std::uint8_t { kNone, kLinear, kDynamicNtk, kYarn, kLlama3, kLongRope };

    std::int64_t rotaryDim = 0;  // columns of a head that turn
    double theta = 10000.0;
    kernels::RopeLayout layout = kernels::RopeLayout::kHalves;
    Scaling scaling = Scaling::kNone;
    double factor = 1.0;
    std::int64_t originalContext = 0;
    double lowFreqFactor = 1.0;             // Llama 3
    double highFreqFactor = 4.0;            // Llama 3
    double betaFast = 32.0;                 // YaRN
    double betaSlow = 1.0;                  // YaRN
    bool yarnTruncate = true;               // YaRN: round the correction range to whole dimensions
    std::optional<double> attentionFactor;  // magnitude, where the file fixes it
    std::optional<double> mscale;           // YaRN as DeepSeek has it
    std::optional<double> mscaleAllDim;
    std::vector<double> factors;  // divisors a frequency: long-rope lists, rope_freqs.weight
};

struct NormSpec {
    kernels::NormKind kind = kernels::NormKind::kRms;
    float eps = 1e-6F;
    float weightOffset = 0.0F;  // Gemma from Hugging Face: 1
};

struct AttentionSpec {
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
    float scale = 1.0F;
    std::int64_t window = 0;  // 0: sees all
    float softcap = 0.0F;
    std::int32_t rope = kernels::kNone;  // index into ModelSpec::ropes; kNone: no positions
    bool hasQkNorm = false;              // a norm on q and k, by head …
    bool isQkNormWholeRow = false;       // … or over the whole row (OLMo 2)
    bool hasSinks = false;
};

struct MlpSpec {
    std::int64_t intermediate = 0;
    kernels::Activation activation = kernels::Activation::kSilu;
    bool isGated = true;
};

/// Which norms stand around a block. x += post(block(pre(x))).
struct BlockNorms {
    bool hasPre = true;
    bool hasPost = false;
};

struct LayerSpec {
    AttentionSpec attention;
    MlpSpec mlp;
    BlockNorms attentionNorms;
    BlockNorms mlpNorms;
    bool isParallel = false;  // attention and MLP read the same normed input and are added together
};

/// An architecture as data: what the builder of the forward pass needs, and nothing of the file it
/// came from. Grows by fields. Whether a bias exists is asked of the tensors.
struct ModelSpec {
    std::string architecture;  // GGUF's name for it
    std::int64_t vocabSize = 0;
    std::int64_t hiddenSize = 0;
    std::int64_t contextTokens = 0;
    std::vector<LayerSpec> layers;
    std::vector<RopeSpec> ropes;
    NormSpec norm;
    float embeddingScale = 1.0F;
    float residualScale = 1.0F;
    float logitScale = 1.0F;  // logits are multiplied by it
    float logitSoftcap = 0.0F;
    bool isHeadTied = false;  // the embedding table is the head
};

}  // namespace quern::engine
