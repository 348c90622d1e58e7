#include "engine/convert/same_model.h"

#include <cmath>

#include "engine/model/rope.h"

namespace quern::engine::convert {

namespace {

bool isNear(float a, float b) {
    constexpr float kRounding = 1e-6F;  // a few roundings to float32
    return std::fabs(a - b) <= kRounding * std::fmax(std::fabs(a), std::fabs(b));
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

bool isSameAttention(const AttentionSpec& a, const AttentionSpec& b) {
    return a.heads == b.heads && a.kvHeads == b.kvHeads && a.keyDim == b.keyDim &&
           a.valueDim == b.valueDim && a.scale == b.scale && a.window == b.window &&
           a.softcap == b.softcap && a.rope == b.rope && a.hasQkNorm == b.hasQkNorm &&
           a.isQkNormWholeRow == b.isQkNormWholeRow && a.hasSinks == b.hasSinks &&
           a.hasOutputGate == b.hasOutputGate;
}

bool isSameNorms(const BlockNorms& a, const BlockNorms& b) {
    return a.hasPre == b.hasPre && a.hasPost == b.hasPost;
}

// Layers that keep a state are not written: none is compared.
bool isSameLayer(const LayerSpec& a, const LayerSpec& b) {
    return isSameAttention(a.attention, b.attention) && a.hasMlp == b.hasMlp &&
           a.mlp.intermediate == b.mlp.intermediate && a.mlp.activation == b.mlp.activation &&
           a.mlp.isGated == b.mlp.isGated && isSameNorms(a.attentionNorms, b.attentionNorms) &&
           isSameNorms(a.mlpNorms, b.mlpNorms) && a.isParallel == b.isParallel;
}

bool isSameWhole(const ModelSpec& a, const ModelSpec& b) {
    return a.architecture == b.architecture && a.vocabSize == b.vocabSize &&
           a.hiddenSize == b.hiddenSize && a.contextTokens == b.contextTokens &&
           a.norm.kind == b.norm.kind && a.norm.eps == b.norm.eps &&
           a.embeddingScale == b.embeddingScale && a.residualScale == b.residualScale &&
           a.logitScale == b.logitScale && a.logitSoftcap == b.logitSoftcap &&
           a.isHeadTied == b.isHeadTied && a.hasPositionEmbedding == b.hasPositionEmbedding &&
           a.positionOffset == b.positionOffset;
}

}  // namespace

std::optional<std::string> differenceOf(const ModelSpec& a, const ModelSpec& b) {
    if (a.layers.size() != b.layers.size()) {
        return "the number of layers";
    }
    for (std::size_t i = 0; i < a.layers.size(); ++i) {
        if (!isSameLayer(a.layers[i], b.layers[i])) {
            return "layer " + std::to_string(i);
        }
    }
    if (a.ropes.size() != b.ropes.size()) {
        return "the number of ropes";
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
    if (!isSameWhole(a, b)) {
        return "a size, a scale or a norm of the whole model";
    }
    return std::nullopt;
}

}  // namespace quern::engine::convert
