#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/state_spec.h"
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
    /// Divisors a frequency: rope_freqs.weight of a GGUF, or long-rope's list for contexts up to
    /// originalContext. Empty, or rotaryDim / 2 values.
    std::vector<double> factors;
    std::vector<double> longFactors;  // long-rope: for contexts beyond originalContext
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
    bool hasQkNorm = false;              // a norm on q and k before rope, by head …
    bool isQkNormWholeRow = false;       // … or over the whole row (OLMo 2)
    bool hasSinks = false;
    bool hasOutputGate = false;  // its result is multiplied by sigmoid(attn_gate · x)
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
    StateSpec state;  // in place of attention
    bool hasMlp = true;
    MlpSpec mlp;
    BlockNorms attentionNorms;
    BlockNorms mlpNorms;
    /// Attention and MLP both read the layer's input and are added to it together. The MLP has its
    /// own norm where mlpNorms.hasPre (GPT-NeoX), else it reads attention's normed input (Phi).
    bool isParallel = false;
};

/// An architecture as data: what the builder of the forward pass needs, and nothing of the file it
/// came from. Grows by fields. Whether a bias exists is asked of the tensors.
///
/// Tensors it stands for, under canonical names (bias: the same stem with ".bias", where it exists;
/// [rows, cols] as stored):
///   token_embd.weight [vocab, hidden] · position_embd.weight [positions, hidden]
///   output_norm.weight [hidden] · output.weight [vocab, hidden] unless the head is tied
///   blk.N.attn_norm (attentionNorms.hasPre) · attn_q [heads·keyDim, hidden] · attn_k, attn_v
///   · attn_q_norm, attn_k_norm: [keyDim], [heads, keyDim] or the whole row · attn_sinks [heads]
///   · attn_output [hidden, heads·valueDim] · post_attention_norm (attentionNorms.hasPost)
///   · ffn_norm (mlpNorms.hasPre) · ffn_gate (isGated), ffn_up [intermediate, hidden]
///   · ffn_down [hidden, intermediate] · post_ffw_norm (mlpNorms.hasPost)
///   · attn_gate [heads·valueDim, hidden] (hasOutputGate)
/// and in place of attention's (convolutions [cols, rows]; inner: heads·headDim, or value heads ·
/// valueDim; xbc: inner + 2·groups·stateSize; qkv: 2·keyHeads·keyDim + inner):
///   ShortConv  shortconv_b, shortconv_c, shortconv_x [hidden, hidden] · shortconv_conv [hidden,
///              rows] · shortconv_out [hidden, hidden]
///   Mamba2     ssm_z [inner, hidden] · ssm_xbc [xbc, hidden] · ssm_dt_in [heads, hidden]
///              · ssm_conv1d [xbc, rows] · ssm_a (below 0), ssm_d, ssm_dt_bias [heads]
///              · ssm_norm [inner] · ssm_out [hidden, inner]
///   DeltaNet   ssm_qkv [qkv, hidden] · ssm_z [inner, hidden] · ssm_alpha, ssm_beta [valueHeads,
///              hidden] · ssm_conv1d [qkv, rows] · ssm_a (below 0), ssm_dt_bias [valueHeads]
///              · ssm_norm [valueDim] · ssm_out [hidden, inner]
/// A reader whose file names or fuses them otherwise maps them: parallel blocks with two norms have
/// attention's under attn_norm and the MLP's under ffn_norm, whatever the file calls them.
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
    bool isHeadTied = false;            // the embedding table is the head
    bool hasPositionEmbedding = false;  // a learned row a position is added to the embedding …
    std::int64_t positionOffset = 0;    // … of row position + offset
};

}  // namespace quern::engine
