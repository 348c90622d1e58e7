#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/state_spec.h"
#include "engine/model_info.h"
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

/// Multi-head latent attention (see latent_attention.h). Sizes of a head.
struct LatentSpec {
    std::int64_t rank = 0;       // columns that keys and values are made of; 0: not latent
    std::int64_t queryRank = 0;  // likewise of queries; 0: made of the layer's input
    std::int64_t nopeDim = 0;    // key columns without a position …
    std::int64_t ropeDim = 0;    // … and with one
    std::int64_t valueDim = 0;
    float normEps = 1e-6F;  // of the norms of both ranks
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
    LatentSpec latent;           // keyDim and valueDim are then those of the cache, kvHeads is 1
};

struct MlpSpec {
    std::int64_t intermediate = 0;
    kernels::Activation activation = kernels::Activation::kSilu;
    bool isGated = true;
};

/// A feed-forward block of experts, of which each token takes a few, and perhaps one that all take.
struct ExpertsSpec {
    std::int64_t count = 0;  // 0: the block is an MlpSpec's
    std::int64_t used = 0;   // by each token
    std::int64_t intermediate = 0;
    kernels::Gating gating = kernels::Gating::kSoftmax;
    bool normalizes = false;        // the shares of those used add up to 1 …
    float scale = 1.0F;             // … and are multiplied by it
    std::int64_t groups = 1;        // of neighbouring experts, …
    std::int64_t groupsUsed = 1;    // … of which a token takes from so many, …
    bool ranksGroupsByTwo = false;  // … the best by their two best experts, or by the best one
    /// Above 0: the gated unit is gpt-oss's (see ClampedGluOp).
    float gluLimit = 0.0F;
    float gluAlpha = 1.702F;
    std::int64_t sharedIntermediate = 0;  // of the expert that all tokens take; 0: none
    bool hasSharedGate = false;           // its result is multiplied by a gate's sigmoid
};

/// Which norms stand around a block: x += post(block(pre(x))), or x = post(x + block(pre(x))).
struct BlockNorms {
    bool hasPre = true;
    bool hasPost = false;
    bool isPostOfSum = false;
};

/// What turns a pooled row into scores: output(norm(activation(dense(x)))).
struct ScoreHead {
    bool hasDense = false;
    kernels::Activation activation = kernels::Activation::kTanh;  // after the dense matrix
    bool hasNorm = false;
    std::int64_t outputs = 1;
};

struct LayerSpec {
    AttentionSpec attention;
    StateSpec state;  // in place of attention
    bool hasMlp = true;
    MlpSpec mlp;
    ExpertsSpec experts;
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
/// Latent attention has instead of attn_q, attn_k, attn_v:
///   attn_q_a [queryRank, hidden], attn_q_a_norm, attn_q_b [heads·(nopeDim + ropeDim), queryRank]
///   (or attn_q [heads·(nopeDim + ropeDim), hidden]) · attn_kv_a_mqa [rank + ropeDim, hidden]
///   · attn_kv_a_norm [rank] · attn_k_b [heads, rank, nopeDim], attn_v_b [heads, valueDim, rank],
///   or a matrix a head: attn_v_b.7.weight. The last columns of each head turn.
/// A layer of experts has instead of ffn_gate, ffn_up, ffn_down:
///   ffn_gate_inp [experts, hidden] · exp_probs_b.bias [experts], where there is a bias of choice
///   · ffn_gate_exps, ffn_up_exps [experts, intermediate, hidden] · ffn_down_exps
///   [experts, hidden, intermediate], or a matrix an expert: ffn_up_exps.7.weight; biases
///   [experts, rows] · ffn_gate_shexp, ffn_up_shexp, ffn_down_shexp (sharedIntermediate)
///   · ffn_gate_inp_shexp [1, hidden] (hasSharedGate)
///   token_types.weight [tokenTypes, hidden] · token_embd_norm (hasEmbeddingNorm)
///   cls [hidden, hidden], cls.norm, cls.output [outputs, hidden]: the scoreHead
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
    std::int64_t tokenTypes = 0;        // learned rows a token type, likewise
    bool hasEmbeddingNorm = false;
    bool hasOutputNorm = true;
    bool isBidirectional = false;
    Pooling pooling = Pooling::kNone;    // the result is a pooled row, not logits …
    std::optional<ScoreHead> scoreHead;  // … with this head over it
};

}  // namespace quern::engine
