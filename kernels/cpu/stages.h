#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/kv_cache.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/route.h"
#include "kernels/cpu/tier_kernels.h"
#include "kernels/cpu/weight_store.h"

namespace quern::kernels::cpu {

/// Up to this many rows every worker computes a prologue for itself: cheaper than one worker doing
/// it and all meeting at a barrier.
inline constexpr std::int64_t kRepeatRows = 4;
/// Tokens of one sequence that attend together, so that keys are widened once for all of them.
inline constexpr std::int64_t kTileTokens = 16;
/// Rows (tokens × heads) of one attention item: what its scratch is made for.
inline constexpr std::int64_t kTileRows = 64;
/// Slots of rows that one of a grouped stage's matrices multiplies together, copied side by side.
inline constexpr std::int64_t kGroupedRows = 64;

/// Where a value lies. Offsets and strides in floats.
struct Operand {
    enum class Place : std::uint8_t {
        kNone,
        kShared,  // [rows, cols] in the program's scratch
        kLocal,   // [cols] in the worker's scratch
        kOutput,  // [R, cols] of the step's caller
    };
    Place place = Place::kNone;
    std::int64_t offset = 0;
    std::int64_t cols = 0;
    /// In the worker's scratch, [kRepeatRows, cols], where each worker makes the value for itself;
    /// −1 for values of earlier stages.
    std::int64_t privateOffset = -1;
};

/// Angles of one set of frequencies for the tokens of a step.
struct RopeTable {
    const float* freqs = nullptr;
    std::int64_t half = 0;
    float magnitude = 1.0F;
    std::int64_t cosOffset = 0;  // [maxTokens, half] in the program's scratch
    std::int64_t sinOffset = 0;
};

/// An op on one row, or on some columns of it, with all that it needs.
struct RowOp {
    OpKind kind = OpKind::kEmbed;
    Lane lane = Lane::kNone;
    std::array<Operand, 2> in;
    Operand out;
    EmbedTable table;
    EmbedIndex index = EmbedIndex::kToken;
    std::int64_t positionOffset = 0;  // of Embed by position
    PoolKind pool = PoolKind::kMean;
    NormArgs norm;  // groups and pointers are those of the whole row
    RopeArgs rope;
    std::int32_t ropeTable = -1;
    Activation activation = Activation::kSilu;
    float factor = 1.0F;  // of Embed, Scale; the cap of Softcap; the limit of ClampedGlu
    float alpha = 1.0F;   // of ClampedGlu
    KvLayerLayout kv;
    RouteArgs route;
    std::int64_t heads = 0;  // of JoinHeads, with the columns of its parts
    std::array<HeadColumns, 2> columns;
    std::int64_t scratchOffset = 0;  // of Route, in the worker's scratch
};

struct MatMulStep {
    const PackedWeight* weight = nullptr;
    WeightId id = kNone;
    std::int32_t slot = 0;  // its place among the stage's matrices
    const float* bias = nullptr;
    Operand out;
};

struct Bundle {
    std::vector<MatMulStep> matMuls;
    std::vector<RowOp> epilogue;
    std::int64_t outputs = 0;
    std::int64_t panel = 0;  // ranges start at multiples of it
    std::int64_t panels = 0;
    std::int64_t panelCost = 0;    // bytes of weights
    std::int64_t chunkPanels = 0;  // panels of one work item when rows are many
    std::int64_t chunks = 0;
};

struct MatMulPart {
    Operand in;
    bool needsQ8 = false;
    std::vector<Bundle> bundles;
    std::int64_t cost = 0;
    std::int64_t chunks = 0;
};

/// One of a grouped stage's matrices a slot.
struct GroupedStep {
    std::vector<const PackedWeight*> weights;  // each [outputs, inputs]
    const float* bias = nullptr;               // [weights, outputs]
    Operand out;                               // [rows, slots · outputs]
};

struct GroupedBundle {
    std::vector<GroupedStep> steps;
    std::vector<RowOp> epilogue;
    std::int64_t outputs = 0;       // of a slot
    std::int64_t chunkOutputs = 0;  // of one work item, whole panels
    std::int64_t chunks = 0;
};

/// Pieces of a worker's scratch for a grouped stage, as offsets in floats.
struct GroupedScratch {
    std::int64_t starts = 0;   // int32 [matrices + 1]
    std::int64_t entries = 0;  // int32 [rows · slots]
    std::int64_t q8 = 0;       // [kGroupedRows, inputs]
    std::int64_t inputs = 0;   // [kGroupedRows, inputs]
    std::int64_t results = 0;  // [kGroupedRows, chunkOutputs]
    std::int64_t floats = 0;
};

struct GroupedPart {
    Operand in;
    Operand routing;  // kNone: slot s takes matrix s
    std::int64_t matrices = 0;
    std::int64_t slots = 0;
    std::int64_t inputs = 0;  // of a matrix
    bool isBySlot = false;    // each slot has input columns of its own
    bool needsQ8 = false;
    bool needsFloats = false;
    std::vector<GroupedBundle> bundles;
    std::int64_t chunks = 0;
    GroupedScratch scratch;
};

/// Cuts a part into work items for so many threads and lays its scratch out.
void cutGrouped(GroupedPart& part, std::int32_t threads, std::int64_t maxRows);

struct AttentionPart {
    KvLayerLayout kv;
    std::int64_t heads = 0;
    std::int64_t headsPerKv = 0;
    float scale = 1.0F;
    float softcap = 0.0F;
    std::int64_t window = 0;
    Sight sight = Sight::kEarlier;
    const float* sinks = nullptr;
    Operand query;
    Operand out;
};

/// Columns of a convolution that are computed together; its state lies range by range.
inline constexpr std::int64_t kConvCols = 64;

/// An op that keeps a state. Units of a sequence are computed independently of each other, each
/// with its own part of the state: ranges of columns (ConvOp) or heads.
struct ScanPart {
    OpKind kind = OpKind::kConv;
    StateLayout state;
    std::int64_t units = 0;
    std::int64_t unitFloats = 0;  // of a unit's state; of the last of a ConvOp maybe less
    std::array<Operand, 3> in;
    Operand out;
    ConvArgs conv;                  // of the first column; cols: of all
    SsdScanOp ssd;                  // sizes and limits
    DeltaRuleOp delta;              // likewise
    const float* decay = nullptr;   // [heads] A of the scans, below 0
    const float* dtBias = nullptr;  // [heads]
    const float* skip = nullptr;    // [heads] D
};

struct Stage {
    std::string name;
    std::vector<std::int32_t> ops;  // indices into OpList::ops
    Rows rows = Rows::kTokens;
    std::vector<RowOp> prologue;
    std::optional<MatMulPart> matMul;
    std::optional<GroupedPart> grouped;
    std::optional<AttentionPart> attention;
    std::optional<ScanPart> scan;
    bool mayRepeat = false;  // each worker may compute the prologue for itself
    bool isByHead = false;   // see PlanStage
};

/// An op list made ready: stages in order and the scratch that they need. Immutable.
struct ProgramImage {
    const TierKernels* kernels = nullptr;
    const GemmKernels* gemm = nullptr;
    bool isKvF16 = true;
    std::vector<Stage> stages;
    std::vector<RopeTable> ropes;
    /// Per group: keys that must be in the cache before a token, 0 for all; −1: group isn't read.
    std::vector<std::int64_t> groupWindows;
    std::vector<bool> isStateGroup;  // [groups]
    std::int64_t vocab = 0;          // token ids must be below it; 0: no table
    std::int64_t positions = 0;      // positions must be below it; 0: no table
    std::int64_t types = 0;          // token types must be below it; 0: no table
    bool takesWhole = false;         // a step holds all tokens of its sequences
    std::int64_t outputCols = 0;
    std::int64_t mostMatMuls = 0;  // of a stage

    // Shared scratch, in floats.
    std::int64_t q8Offset = 0;
    std::int64_t sharedFloats = 0;
    // Each worker's scratch, in floats.
    std::int64_t workerQ8Offset = 0;
    std::int64_t workerAttentionOffset = 0;
    std::int64_t workerGroupedOffset = 0;
    std::int64_t workerFloats = 0;
};

struct LowerOptions {
    bool isReference = false;
    std::int32_t threads = 1;
    std::int64_t maxTokens = 0;
    std::int64_t maxOutputs = 0;
};

/// Binds a plan to weights and memory. `weights` must outlive the image.
[[nodiscard]] ProgramImage lower(const OpList& ops, const Plan& plan, const WeightStore& weights,
                                 const KvBlockLayout& kv, const LowerOptions& options);

/// Floats of one worker's scratch for an attention item.
[[nodiscard]] std::int64_t attentionScratchFloats(const KvLayerLayout& kv, std::int64_t headsPerKv);

}  // namespace quern::kernels::cpu
