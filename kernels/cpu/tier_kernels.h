#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"

namespace quern::kernels::cpu {

struct NormArgs {
    NormKind kind = NormKind::kRms;
    float eps = 0.0F;
    std::int64_t groups = 1;        // groups that follow each other in `in` and `out`
    std::int64_t groupCols = 0;     // columns of each
    std::int64_t weightStep = 0;    // from one group's weights to the next: 0 or groupCols
    std::int64_t biasStep = 0;      // likewise
    const float* weight = nullptr;  // offset included; null: 1
    const float* bias = nullptr;    // null: 0
};

struct RopeArgs {
    RopeLayout layout = RopeLayout::kHalves;
    std::int64_t heads = 0;
    std::int64_t headDim = 0;
    std::int64_t half = 0;       // rotary dimension / 2
    const float* cos = nullptr;  // [half], magnitude included
    const float* sin = nullptr;  // [half]
};

/// One head's key and value of one token, into slot `slot` of a block.
struct KvWriteArgs {
    bool isF16 = true;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
    std::int64_t paddedValueDim = 0;
    std::int32_t slot = 0;            // [0, 16)
    std::byte* keyBlock = nullptr;    // [keyDim, 16]
    std::byte* valueBlock = nullptr;  // [16, paddedValueDim]
};

/// The part of attention that one span of keys gives to some tokens × heads ("rows", token-major)
/// that share a KV head. Results depend on the row and the keys it sees, on nothing else.
struct SpanArgs {
    std::int64_t tokens = 0;
    std::int64_t heads = 0;
    const float* query = nullptr;  // head h of token t at t · queryStride + h · keyDim
    std::int64_t queryStride = 0;
    bool isF16 = true;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
    std::int64_t paddedValueDim = 0;
    bool isValueInKey = false;  // the last valueDim rows of a block of keys are its values
    const std::byte* const* keyBlocks = nullptr;    // [16]; those no row sees aren't read
    const std::byte* const* valueBlocks = nullptr;  // [16]
    const std::int32_t* begin = nullptr;  // [tokens] first key seen, from the span's start
    const std::int32_t* end = nullptr;    // [tokens] one past the last; ≤ begin: none
    float scale = 1.0F;
    float softcap = 0.0F;
    float* scores = nullptr;   // scratch [rows, 256]
    float* convert = nullptr;  // scratch [16 · max(keyDim, paddedValueDim)]
    float* max = nullptr;      // out [rows]; rows that see nothing aren't written
    float* sum = nullptr;      // out [rows]
    float* acc = nullptr;      // out [rows, paddedValueDim]
};

/// Some columns of a causal convolution. Its state are the rows before the token's, oldest first.
struct ConvArgs {
    std::int64_t rows = 0;          // K: of the weight; the state has one less
    std::int64_t cols = 0;          // of this range, also the state's width
    std::int64_t weightStride = 0;  // from one row of the weight to the next
    const float* weight = nullptr;  // at the range's first column
    const float* bias = nullptr;    // likewise; null: 0
    Activation activation = Activation::kIdentity;
};

/// One token of one head of Mamba 2's scan. The state is [stateSize, headDim].
struct SsdArgs {
    std::int64_t headDim = 0;
    std::int64_t stateSize = 0;
    const float* x = nullptr;  // [headDim]
    const float* b = nullptr;  // [stateSize]
    const float* c = nullptr;  // [stateSize]
    float decay = 0.0F;        // e^(A·Δ)
    float step = 0.0F;         // Δ
    float skip = 0.0F;         // D
};

/// One token of one value head of the gated delta rule. The state is [keyDim, valueDim].
struct DeltaArgs {
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
    const float* query = nullptr;  // [keyDim]
    const float* key = nullptr;    // [keyDim]
    const float* value = nullptr;  // [valueDim]
    float decay = 0.0F;            // g
    float beta = 0.0F;
    float scale = 1.0F;
    float eps = 0.0F;
};

/// What a tier brings besides matrices. All take plain memory, allocate nothing, may be called from
/// any thread. Column counts are free; results don't depend on how a caller splits columns of the
/// element-wise ones.
struct TierKernels {
    void (*norm)(const NormArgs& args, const float* in, float* out);
    void (*add)(const float* a, const float* b, float* out, std::int64_t count);
    void (*scale)(const float* in, float factor, float* out, std::int64_t count);
    void (*activate)(Activation kind, const float* in, float* out, std::int64_t count);
    void (*glu)(Activation kind, const float* gate, const float* up, float* out,
                std::int64_t count);
    void (*softcap)(const float* in, float cap, float* out, std::int64_t count);
    void (*clampedGlu)(float alpha, float limit, const float* gate, const float* up, float* out,
                       std::int64_t count);
    void (*softmax)(const float* in, float* out, std::int64_t count);
    void (*sigmoid)(const float* in, float* out, std::int64_t count);
    /// out += in · factor
    void (*addScaled)(const float* in, float factor, float* out, std::int64_t count);
    void (*rope)(const RopeArgs& args, const float* in, float* out);
    void (*kvWrite)(const KvWriteArgs& args, const float* key, const float* value);
    void (*attendSpan)(const SpanArgs& args);
    /// Adds a later span's (max, sum, acc[dim]) to the state of a row.
    void (*mergeSpan)(float spanMax, float spanSum, const float* spanAcc, float* max, float* sum,
                      float* acc, std::int64_t dim);
    /// A logit without a value joins the softmax.
    void (*mergeSink)(float sink, float* max, float* sum, float* acc, std::int64_t dim);
    /// Each takes a state from the token before to this one and gives the token's result. A column
    /// of the result depends on its own columns of the state alone.
    void (*conv)(const ConvArgs& args, const float* in, float* state, float* out);
    void (*ssd)(const SsdArgs& args, float* state, float* out);
    void (*delta)(const DeltaArgs& args, float* state, float* out);
};

/// The processor must have the tier (hasTier).
[[nodiscard]] const TierKernels& tierKernels(CpuTier tier);

namespace generic {
[[nodiscard]] const TierKernels& kernels();
}
#if defined(__x86_64__)
namespace avx2 {
[[nodiscard]] const TierKernels& kernels();
}
#endif

}  // namespace quern::kernels::cpu
