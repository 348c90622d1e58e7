#include "engine/model/latent_attention.h"

#include <utility>

namespace quern::engine {

namespace {

using kernels::HeadColumns;
using kernels::ValueId;

// Columns of each head, those of one value after those of another.
ValueId joinHeads(const LatentContext& c, const std::string& op, std::int64_t heads, HeadColumns a,
                  HeadColumns b = {}) {
    const ValueId out = c.pass.value(c.name + op, a.value, heads * (a.count + b.count));
    c.pass.emit(c.name + op, kernels::JoinHeadsOp{.a = a, .b = b, .out = out, .heads = heads});
    return out;
}

void turn(const LatentContext& c, const std::string& op, ValueId inOut) {
    kernels::RopeOp rope = c.rope;
    rope.inOut = inOut;
    rope.headDim = c.spec.latent.ropeDim;
    c.pass.emit(c.name + op, rope);
}

// One matrix a head.
ValueId eachHead(const LatentContext& c, const std::string& op, ValueId in, const std::string& stem,
                 std::int64_t rows, std::int64_t cols) {
    auto weights = c.pass.matricesOfExperts(c.tensor + stem, c.spec.heads, rows, cols);
    const ValueId out = c.pass.value(c.name + op, in, c.spec.heads * rows);
    c.pass.emit(c.name + op,
                kernels::GroupedMatMulOp{.in = in, .weights = std::move(weights), .out = out});
    return out;
}

ValueId queries(const LatentContext& c, ValueId x) {
    const LatentSpec& latent = c.spec.latent;
    const std::int64_t headCols = latent.nopeDim + latent.ropeDim;
    if (latent.queryRank == 0) {
        return c.pass.linear(c.name + "q", x, c.tensor + "attn_q", c.spec.heads * headCols);
    }
    ValueId low = c.pass.linear(c.name + "q.a", x, c.tensor + "attn_q_a", latent.queryRank);
    low = c.pass.rmsNorm(latent.normEps, c.name + "q.a.norm", low, c.tensor + "attn_q_a_norm");
    return c.pass.linear(c.name + "q.b", low, c.tensor + "attn_q_b", c.spec.heads * headCols);
}

}  // namespace

Status checkLatentSizes(const LatentSpec& latent, const std::string& at) {
    constexpr std::int64_t kMostSize = 1 << 16;
    for (const auto& [what, size, least] :
         {std::tuple{"rank of keys and values", latent.rank, 1},
          std::tuple{"rank of queries", latent.queryRank, 0},
          std::tuple{"key length without positions", latent.nopeDim, 1},
          std::tuple{"key length with positions", latent.ropeDim, 1},
          std::tuple{"value length", latent.valueDim, 1}}) {
        if (size < least || size > kMostSize) {
            return fail(ErrorCode::kCorrupt, at + "latent attention: " + what + " is " +
                                                 std::to_string(size) + "; " +
                                                 std::to_string(least) + " to " +
                                                 std::to_string(kMostSize) + " are allowed");
        }
    }
    return {};
}

Status checkLatent(const AttentionSpec& spec, const std::string& at) {
    const LatentSpec& latent = spec.latent;
    if (auto status = checkLatentSizes(latent, at); !status) {
        return status;
    }
    if (spec.kvHeads != 1 || spec.keyDim != latent.ropeDim + latent.rank ||
        spec.valueDim != latent.rank || spec.rope == kernels::kNone) {
        return fail(ErrorCode::kCorrupt,
                    at + "latent attention of rank " + std::to_string(latent.rank) +
                        " keeps one row of " + std::to_string(latent.ropeDim + latent.rank) +
                        " columns a token, not " + std::to_string(spec.kvHeads) + " of " +
                        std::to_string(spec.keyDim));
    }
    return {};
}

LatentParts latentParts(const LatentContext& c, ValueId x) {
    const LatentSpec& latent = c.spec.latent;
    const std::int64_t heads = c.spec.heads;
    const ValueId query = queries(c, x);
    const ValueId nope =
        joinHeads(c, "q.nope", heads, {.value = query, .first = 0, .count = latent.nopeDim});
    const ValueId turned = joinHeads(
        c, "q.pe", heads, {.value = query, .first = latent.nopeDim, .count = latent.ropeDim});
    turn(c, "q.rope", turned);

    const ValueId low =
        c.pass.linear(c.name + "kv.a", x, c.tensor + "attn_kv_a_mqa", latent.rank + latent.ropeDim);
    const ValueId part =
        joinHeads(c, "kv.row", 1, {.value = low, .first = 0, .count = latent.rank});
    const ValueId row =
        c.pass.rmsNorm(latent.normEps, c.name + "kv.a.norm", part, c.tensor + "attn_kv_a_norm");
    const ValueId position =
        joinHeads(c, "k.pe", 1, {.value = low, .first = latent.rank, .count = latent.ropeDim});
    turn(c, "k.rope", position);

    const ValueId wanted = eachHead(c, "q.absorb", nope, "attn_k_b", latent.rank, latent.nopeDim);
    return {.query = joinHeads(c, "q.join", heads, {.value = turned, .count = latent.ropeDim},
                               {.value = wanted, .count = latent.rank}),
            .key = joinHeads(c, "k.join", 1, {.value = position, .count = latent.ropeDim},
                             {.value = row, .count = latent.rank}),
            .value = row};
}

ValueId latentValues(const LatentContext& c, ValueId mixed) {
    return eachHead(c, "v.absorb", mixed, "attn_v_b", c.spec.latent.valueDim, c.spec.latent.rank);
}

}  // namespace quern::engine
