#include "engine/convert/same_model.h"

#include <cmath>
#include <tuple>

#include "engine/model/rope.h"

namespace quern::engine::convert {

namespace {

// All fields of a part of a spec. A structured binding names every one, so that a field that is
// added does not compile here before it is compared.

auto fieldsOf(const LatentSpec& spec) {
    const auto& [rank, queryRank, nopeDim, ropeDim, valueDim, normEps] = spec;
    return std::tuple(rank, queryRank, nopeDim, ropeDim, valueDim, normEps);
}

auto fieldsOf(const AttentionSpec& spec) {
    const auto& [heads, kvHeads, keyDim, valueDim, scale, window, softcap, rope, hasQkNorm,
                 isQkNormWholeRow, hasSinks, hasOutputGate, latent] = spec;
    return std::tuple(heads, kvHeads, keyDim, valueDim, scale, window, softcap, rope, hasQkNorm,
                      isQkNormWholeRow, hasSinks, hasOutputGate, fieldsOf(latent));
}

auto fieldsOf(const MlpSpec& spec) {
    const auto& [intermediate, activation, isGated] = spec;
    return std::tuple(intermediate, activation, isGated);
}

auto fieldsOf(const ExpertsSpec& spec) {
    const auto& [count, used, intermediate, gating, normalizes, scale, groups, groupsUsed,
                 ranksGroupsByTwo, gluLimit, gluAlpha, sharedIntermediate, hasSharedGate] = spec;
    return std::tuple(count, used, intermediate, gating, normalizes, scale, groups, groupsUsed,
                      ranksGroupsByTwo, gluLimit, gluAlpha, sharedIntermediate, hasSharedGate);
}

auto fieldsOf(const BlockNorms& norms) {
    const auto& [hasPre, hasPost, isPostOfSum] = norms;
    return std::tuple(hasPre, hasPost, isPostOfSum);
}

auto fieldsOf(std::monostate /*none*/) {
    return std::tuple();
}

auto fieldsOf(const ShortConvSpec& spec) {
    const auto& [rows] = spec;
    return std::tuple(rows);
}

auto fieldsOf(const Mamba2Spec& spec) {
    const auto& [rows, activation, heads, headDim, stateSize, groups, stepMin, stepMax] = spec;
    return std::tuple(rows, activation, heads, headDim, stateSize, groups, stepMin, stepMax);
}

auto fieldsOf(const DeltaNetSpec& spec) {
    const auto& [rows, activation, keyHeads, valueHeads, keyDim, valueDim] = spec;
    return std::tuple(rows, activation, keyHeads, valueHeads, keyDim, valueDim);
}

auto fieldsOf(const NormSpec& spec) {
    const auto& [kind, eps, weightOffset] = spec;
    return std::tuple(kind, eps, weightOffset);
}

auto fieldsOf(const ScoreHead& head) {
    const auto& [hasDense, activation, hasNorm, outputs] = head;
    return std::tuple(hasDense, activation, hasNorm, outputs);
}

template <class Part>
bool isSame(const Part& a, const Part& b) {
    return fieldsOf(a) == fieldsOf(b);
}

bool isSameState(const StateSpec& a, const StateSpec& b) {
    return a.index() == b.index() &&
           std::visit(
               [&](const auto& spec) {
                   return isSame(spec, std::get<std::decay_t<decltype(spec)>>(b));
               },
               a);
}

bool isSameHead(const std::optional<ScoreHead>& a, const std::optional<ScoreHead>& b) {
    return a.has_value() == b.has_value() && (!a || isSame(*a, *b));
}

bool isNear(float a, float b) {
    constexpr float kRounding = 1e-6F;  // a few roundings to float32
    return std::fabs(a - b) <= kRounding * std::fmax(std::fabs(a), std::fabs(b));
}

// A scale that was written comes back rounded.
bool isSameAttention(AttentionSpec a, const AttentionSpec& b) {
    if (isNear(a.scale, b.scale)) {
        a.scale = b.scale;
    }
    return isSame(a, b);
}

std::optional<std::string> differenceOf(const LayerSpec& a, const LayerSpec& b) {
    const auto& [attention, state, hasMlp, mlp, experts, attentionNorms, mlpNorms, isParallel] = a;
    if (!isSameAttention(attention, b.attention)) {
        return "its attention";
    }
    if (!isSameState(state, b.state)) {
        return "the state it keeps";
    }
    if (!isSame(experts, b.experts)) {
        return "its experts";
    }
    // A block of experts has no dense one's width, but its activation.
    const bool isSameBlock =
        experts.count > 0 ? mlp.activation == b.mlp.activation : isSame(mlp, b.mlp);
    if (hasMlp != b.hasMlp || (hasMlp && !isSameBlock)) {
        return "its feed-forward block";
    }
    if (!isSame(attentionNorms, b.attentionNorms) || !isSame(mlpNorms, b.mlpNorms) ||
        isParallel != b.isParallel) {
        return "the norms around its blocks";
    }
    return std::nullopt;
}

// Whether positions turn the columns alike, whatever numbers say so.
bool isSameRope(const RopeSpec& a, const RopeSpec& b, std::int64_t context) {
    const auto ofA = ropeTable(a, context);
    const auto ofB = ropeTable(b, context);
    if (!ofA || !ofB || ofA->freqs.size() != ofB->freqs.size() ||
        !isNear(ofA->magnitude, ofB->magnitude)) {
        return false;
    }
    for (std::size_t i = 0; i < ofA->freqs.size(); ++i) {
        if (!isNear(ofA->freqs[i], ofB->freqs[i])) {
            return false;
        }
    }
    return true;
}

// But for layers and ropes.
bool isSameWhole(const ModelSpec& a, const ModelSpec& b) {
    const auto& [architecture, vocabSize, hiddenSize, contextTokens, layers, ropes, norm,
                 embeddingScale, residualScale, logitScale, logitSoftcap, isHeadTied,
                 hasPositionEmbedding, positionOffset, tokenTypes, hasEmbeddingNorm, hasOutputNorm,
                 isBidirectional, pooling, scoreHead] = a;
    return architecture == b.architecture && vocabSize == b.vocabSize &&
           hiddenSize == b.hiddenSize && contextTokens == b.contextTokens &&
           layers.size() == b.layers.size() && ropes.size() == b.ropes.size() &&
           isSame(norm, b.norm) && embeddingScale == b.embeddingScale &&
           residualScale == b.residualScale && logitScale == b.logitScale &&
           logitSoftcap == b.logitSoftcap && isHeadTied == b.isHeadTied &&
           hasPositionEmbedding == b.hasPositionEmbedding && positionOffset == b.positionOffset &&
           tokenTypes == b.tokenTypes && hasEmbeddingNorm == b.hasEmbeddingNorm &&
           hasOutputNorm == b.hasOutputNorm && isBidirectional == b.isBidirectional &&
           pooling == b.pooling && isSameHead(scoreHead, b.scoreHead);
}

}  // namespace

std::optional<std::string> differenceOf(const ModelSpec& a, const ModelSpec& b) {
    if (!isSameWhole(a, b)) {
        return "a size, a scale or a norm of the whole model";
    }
    for (std::size_t i = 0; i < a.layers.size(); ++i) {
        if (const auto difference = differenceOf(a.layers[i], b.layers[i])) {
            return "of layer " + std::to_string(i) + " " + *difference;
        }
    }
    for (std::size_t i = 0; i < a.ropes.size(); ++i) {
        // Long-rope has two lists, one up to the original context.
        for (const std::int64_t context :
             {a.ropes[i].originalContext, a.contextTokens, b.contextTokens}) {
            if (!isSameRope(a.ropes[i], b.ropes[i], context)) {
                return "rope " + std::to_string(i);
            }
        }
    }
    return std::nullopt;
}

}  // namespace quern::engine::convert
