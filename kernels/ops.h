#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernels/tensor.h"

namespace quern::kernels {

/// The forward pass as data. An OpList names activations (values) and constants (weights) and lists
/// fine-grained ops in order; counts of tokens and outputs are symbols. A backend compiles it once
/// a model (see Backend::compile), fuses as it likes, and runs it many times with different counts.
///
/// Every value is a dense float32 matrix [rows, cols]: rows is one of the symbols below, cols is
/// known. A value is written by one op; only ops marked "in place" may write it again.

using ValueId = std::int32_t;
using WeightId = std::int32_t;
inline constexpr std::int32_t kNone = -1;

enum class Rows : std::uint8_t {
    kTokens,   // T: the tokens of this step, all sequences one after the other
    kOutputs,  // R: the tokens whose logits (or hidden state) are wanted
};

struct Value {
    std::string name;
    Rows rows = Rows::kTokens;
    std::int64_t cols = 0;
};

/// Matrices have any type a backend can multiply; vectors (norm weights, biases, rope frequencies,
/// sinks) are F32.
struct Weight {
    std::string name;
    DType type = DType::kF32;
    std::int64_t rows = 1;  // output features; 1 for vectors
    std::int64_t cols = 0;  // input features, contiguous
};

enum class NormKind : std::uint8_t { kRms, kLayer };
enum class Activation : std::uint8_t {
    kSilu,
    kGelu,
    kGeluTanh,
    kRelu,
    kRelu2,
    kSigmoid,
    kIdentity,
    kTanh,
};
/// kHalves turns (x[i], x[i + d/2]), the Hugging Face and NeoX layout; kPairs turns
/// (x[2i], x[2i+1]), the layout of llama GGUF files.
enum class RopeLayout : std::uint8_t { kHalves, kPairs };

/// What an embedding table is looked up by.
enum class EmbedIndex : std::uint8_t { kToken, kPosition, kTokenType };

/// out[t] = table[token[t]] * scale, or table[position[t] + offset] * scale, or
/// table[tokenType[t]] * scale
struct EmbedOp {
    WeightId table = kNone;  // [vocab, cols], [positions, cols] or [types, cols]
    ValueId out = kNone;
    float scale = 1.0F;
    EmbedIndex index = EmbedIndex::kToken;
    std::int64_t offset = 0;
};

/// Normalizes each group of `groupCols` columns of a row (0: the whole row). RMS:
/// x / sqrt(mean(x²) + eps) * (weight + weightOffset); layer norm subtracts the mean first and adds
/// bias. `weight` has groupCols elements, or all columns when the groups have weights of their own.
struct NormOp {
    ValueId in = kNone;
    ValueId out = kNone;  // may equal `in`
    NormKind kind = NormKind::kRms;
    WeightId weight = kNone;
    WeightId bias = kNone;
    float eps = 1e-6F;
    float weightOffset = 0.0F;
    std::int64_t groupCols = 0;
};

/// out = in · weightᵀ (+ bias). in [rows, K], weight [N, K], out [rows, N].
struct MatMulOp {
    ValueId in = kNone;
    WeightId weight = kNone;
    WeightId bias = kNone;
    ValueId out = kNone;
};

/// In place on [T, heads * headDim]: turns the first 2·len(freqs) columns of each head by
/// position · freqs[i], then multiplies cos and sin by `magnitude` (YaRN). Su et al. 2021.
struct RopeOp {
    ValueId inOut = kNone;
    std::int64_t headDim = 0;
    WeightId freqs = kNone;  // F32 [rotaryDim / 2], radians a position
    RopeLayout layout = RopeLayout::kHalves;
    float magnitude = 1.0F;
};

/// Writes the keys and values of this step's tokens into the paged cache (see paged_kv.h).
struct KvWriteOp {
    ValueId key = kNone;    // [T, kvHeads * keyDim]
    ValueId value = kNone;  // [T, kvHeads * valueDim]
    std::int32_t kvLayer = 0;
};

/// Which keys of its sequence a token sees.
enum class Sight : std::uint8_t {
    kEarlier,  // those up to its own position
    kAll,      // all that are cached once the step has written its own: the whole sequence must be
               // in the step
};

/// Attention of each token over its sequence's cached keys, itself included (the KvWriteOp of the
/// layer comes before). Spans of 256 keys from absolute multiples of 256, merged in order.
struct AttentionOp {
    ValueId query = kNone;  // [T, heads * keyDim]
    ValueId out = kNone;    // [T, heads * valueDim]
    std::int32_t kvLayer = 0;
    std::int64_t heads = 0;
    float scale = 1.0F;       // on the scores
    std::int64_t window = 0;  // a token sees keys less than this far from it; 0: all
    Sight sight = Sight::kEarlier;
    float softcap = 0.0F;    // cap · tanh(score / cap); 0: none
    WeightId sinks = kNone;  // F32 [heads]: a logit that takes part in the softmax, with no value
};

/// out = a + b
struct AddOp {
    ValueId a = kNone;
    ValueId b = kNone;
    ValueId out = kNone;  // may equal a
};

/// out = in · factor
struct ScaleOp {
    ValueId in = kNone;
    ValueId out = kNone;  // may equal in
    float factor = 1.0F;
};

/// out = activation(in)
struct ActivationOp {
    ValueId in = kNone;
    ValueId out = kNone;  // may equal in
    Activation kind = Activation::kSilu;
};

/// out = activation(gate) · up
struct GluOp {
    ValueId gate = kNone;
    ValueId up = kNone;
    ValueId out = kNone;  // may equal gate
    Activation kind = Activation::kSilu;
};

/// out = cap · tanh(in / cap)
struct SoftcapOp {
    ValueId in = kNone;
    ValueId out = kNone;  // may equal in
    float cap = 1.0F;
};

/// out[r] = in[outputRows[r]]: from all tokens to those whose results are wanted.
struct GatherOutputsOp {
    ValueId in = kNone;   // [T, cols]
    ValueId out = kNone;  // [R, cols]
};

/// Causal convolution of each column by itself: out[t] = activation(bias + Σ weight[k] · in[t − K +
/// 1 + k]) over k of the K rows of `weight`, in ascending order; rows before the sequence's first
/// token are 0. Its state are the last K − 1 rows of `in`: (K − 1) · cols floats.
struct ConvOp {
    ValueId in = kNone;       // [T, cols]
    ValueId out = kNone;      // [T, cols]
    WeightId weight = kNone;  // F32 [K, cols], K ≥ 2
    WeightId bias = kNone;    // F32 [cols]
    Activation activation = Activation::kIdentity;
    std::int32_t stateLayer = 0;
};

/// Selective scan of Mamba 2 (Dao and Gu 2024, SSD), token by token. Heads share the B and C of
/// their group; for each head, with Δ = clamp(softplus(dt + dtBias), stepMin, stepMax):
///   H[n, p] = H[n, p] · e^(A·Δ) + B[n] · Δ · x[p]     out[p] = Σ_n C[n] · H[n, p] + D · x[p]
/// Its state are the H of all heads: heads · stateSize · headDim floats.
struct SsdScanOp {
    ValueId xbc = kNone;      // [T, heads · headDim + 2 · groups · stateSize]: x, then B, then C
    ValueId dt = kNone;       // [T, heads]
    ValueId out = kNone;      // [T, heads · headDim]
    WeightId a = kNone;       // F32 [heads], below 0
    WeightId d = kNone;       // F32 [heads]
    WeightId dtBias = kNone;  // F32 [heads]
    std::int64_t heads = 0;
    std::int64_t headDim = 0;
    std::int64_t stateSize = 0;
    std::int64_t groups = 1;
    float stepMin = 0.0F;
    float stepMax = 3.4e38F;
    std::int32_t stateLayer = 0;
};

/// Linear attention by the gated delta rule (Yang et al. 2024), token by token. valueHeads /
/// keyHeads neighbouring value heads share a query and a key, both divided by sqrt(Σ x² + eps);
/// for each value head, with g = e^(A · softplus(a + dtBias)) and β = sigmoid(b):
///   δ = β · (v − g · kᵀS)     S = g · S + k δᵀ     out = scale · qᵀS
/// Its state are the S of all value heads: valueHeads · keyDim · valueDim floats.
struct DeltaRuleOp {
    ValueId qkv = kNone;      // [T, 2 · keyHeads · keyDim + valueHeads · valueDim]
    ValueId a = kNone;        // [T, valueHeads]
    ValueId b = kNone;        // [T, valueHeads]
    ValueId out = kNone;      // [T, valueHeads · valueDim]
    WeightId decay = kNone;   // F32 [valueHeads]: A, below 0
    WeightId dtBias = kNone;  // F32 [valueHeads]
    std::int64_t keyHeads = 0;
    std::int64_t valueHeads = 0;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
    float scale = 1.0F;
    float eps = 1e-6F;
    std::int32_t stateLayer = 0;
};

/// How the logits of a router become scores.
enum class Gating : std::uint8_t {
    kSoftmax,          // over all choices
    kSigmoid,          // each by itself
    kSoftmaxOfChosen,  // the logits choose, their softmax is taken over the chosen ones
};

/// Each row chooses `used` of its columns. A row of `out`: the indices of the chosen columns, as
/// whole numbers, best first (of equal ones the lower index), then their shares. What is compared
/// are scores plus bias; what is shared out are scores without it, divided by their sum where
/// `normalizes`, then times `scale`. With groups of neighbouring columns only the `groupsUsed` best
/// groups take part; a group is as good as its best column, or as its two best added up.
struct RouteOp {
    ValueId logits = kNone;  // [rows, experts]
    ValueId out = kNone;     // [rows, 2 · used]
    Gating gating = Gating::kSoftmax;
    std::int64_t used = 0;
    WeightId bias = kNone;  // F32 [experts]
    std::int64_t groups = 1;
    std::int64_t groupsUsed = 1;
    bool ranksGroupsByTwo = false;
    bool normalizes = false;
    float scale = 1.0F;
};

/// Each slot of a row has a matrix of its own: slot s of out = slot s of in · weights[c]ᵀ (+ row c
/// of bias), where c is the row's choice s of a RouteOp, or s itself where there is no routing.
struct GroupedMatMulOp {
    ValueId in = kNone;             // [rows, slots · K], or [rows, K] for all slots
    ValueId routing = kNone;        // [rows, 2 · slots] of a RouteOp, or kNone
    std::vector<WeightId> weights;  // each [N, K], of one type
    WeightId bias = kNone;          // F32 [weights · N]
    ValueId out = kNone;            // [rows, slots · N]
};

/// out = Σ share[s] · slot s of in, in the order of the routing.
struct SumSlotsOp {
    ValueId in = kNone;       // [rows, slots · cols]
    ValueId routing = kNone;  // [rows, 2 · slots] of a RouteOp
    ValueId out = kNone;      // [rows, cols]
};

/// out = g · sigmoid(alpha · g) · (u + 1), where g is gate, at most limit, and u is up, within
/// ±limit (gpt-oss).
struct ClampedGluOp {
    ValueId gate = kNone;
    ValueId up = kNone;
    ValueId out = kNone;  // may equal gate
    float alpha = 1.702F;
    float limit = 7.0F;
};

/// out = in · sigmoid(gate), one gate a row.
struct GateRowsOp {
    ValueId in = kNone;
    ValueId gate = kNone;  // [rows, 1]
    ValueId out = kNone;   // may equal in
};

/// Columns [first, first + count) of each head of a value.
struct HeadColumns {
    ValueId value = kNone;
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Each head of out: columns of a head of `a`, then of `b`, where there is a `b`.
struct JoinHeadsOp {
    HeadColumns a;
    HeadColumns b;
    ValueId out = kNone;  // [rows, heads · (a.count + b.count)]
    std::int64_t heads = 0;
};

enum class PoolKind : std::uint8_t { kMean, kFirst };

/// One row for the sequence that token outputRows[r] is of: out[r] = the mean of its tokens of this
/// step, or the first of them.
struct PoolOp {
    ValueId in = kNone;   // [T, cols]
    ValueId out = kNone;  // [R, cols]
    PoolKind kind = PoolKind::kMean;
};

using OpVariant = std::variant<EmbedOp, NormOp, MatMulOp, RopeOp, KvWriteOp, AttentionOp, AddOp,
                               ScaleOp, ActivationOp, GluOp, SoftcapOp, GatherOutputsOp, ConvOp,
                               SsdScanOp, DeltaRuleOp, RouteOp, GroupedMatMulOp, SumSlotsOp,
                               GateRowsOp, ClampedGluOp, JoinHeadsOp, PoolOp>;

struct Op {
    std::string name;  // "layer 3 / attn.q": what the Kernels view and a trace show
    OpVariant op;
};

struct OpList {
    std::vector<Value> values;
    std::vector<Weight> weights;
    std::vector<Op> ops;
    ValueId output = kNone;  // [R, cols]: logits, or hidden states of a model without a head
};

}  // namespace quern::kernels
