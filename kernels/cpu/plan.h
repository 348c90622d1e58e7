#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ops.h"
#include "kernels/paged_kv.h"

namespace quern::kernels::cpu {

/// The variant's alternatives by name, in its order.
enum class OpKind : std::uint8_t {
    kEmbed,
    kNorm,
    kMatMul,
    kRope,
    kKvWrite,
    kAttention,
    kAdd,
    kScale,
    kActivation,
    kGlu,
    kSoftcap,
    kGather,
    kConv,
    kSsdScan,
    kDeltaRule,
    kRoute,
    kGroupedMatMul,
    kSumSlots,
    kGateRows,
    kClampedGlu,
    kJoinHeads,
    kPool,
};

/// A new op gets a kind, and a place in the plan and in lower.
static_assert(std::variant_size_v<OpVariant> == static_cast<std::size_t>(OpKind::kPool) + 1);

/// A value that is written once: an op that works in place makes a new one. So ops can be reordered
/// by their inputs alone, and memory is shared by lifetime alone.
struct PlanValue {
    std::string name;
    Rows rows = Rows::kTokens;
    std::int64_t cols = 0;
    std::int32_t firstStage = -1;  // where it is made
    std::int32_t lastStage = -1;   // where it is last read
    bool isOutput = false;
    /// Made and used within one row of one stage's prologue: needs memory for a row per worker.
    bool isLocal = false;
};

/// Which columns of an op belong to one KV head, when a prologue runs head by head.
enum class Lane : std::uint8_t { kNone, kQuery, kKey, kValue };

struct PlanOp {
    std::int32_t op = -1;  // index into OpList::ops
    OpKind kind = OpKind::kEmbed;
    /// Plan values; KvWrite: key, value; GroupedMatMul, SumSlots: the routing second.
    std::array<std::int32_t, 3> in{-1, -1, -1};
    std::int32_t out = -1;
    Lane lane = Lane::kNone;
};

/// Matrices, plain or grouped, whose outputs meet in element-wise ops, so that one range of columns
/// of all of them is computed together.
struct PlanBundle {
    std::vector<PlanOp> matMuls;
    std::vector<PlanOp> epilogue;
};

/// What runs between two barriers: row-wise ops, then matrices, attention or a scan (an op that
/// keeps a state) over their results.
struct PlanStage {
    Rows rows = Rows::kTokens;
    std::vector<PlanOp> prologue;
    std::vector<PlanBundle> bundles;
    std::optional<PlanOp> attention;
    std::optional<PlanOp> scan;
    /// The prologue can be computed for one KV head alone, by the worker that then attends.
    bool isByHead = false;
};

struct Plan {
    std::vector<PlanValue> values;
    std::vector<PlanStage> stages;
};

/// Groups a checked op list into stages. `takesQ8` [weights]: the matrix multiplies rows that are
/// quantized in the prologue, so that it needs no float32 input. `isReference`: one op a stage.
[[nodiscard]] Plan makePlan(const OpList& ops, const KvLayout& kv, const std::vector<bool>& takesQ8,
                            bool isReference);

}  // namespace quern::kernels::cpu
