#include "engine/formats/hyperparameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "engine/model/experts.h"
#include "engine/model/latent_attention.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::TensorView;

// No size of a model comes near it, and no product of two overflows.
constexpr std::int64_t kMostSize = std::int64_t{1} << 24;

std::string layerPrefix(std::size_t layer) {
    return "blk." + std::to_string(layer) + ".";
}

Status checkSize(const std::string& what, std::int64_t size) {
    if (size >= 1 && size <= kMostSize) {
        return {};
    }
    return fail(ErrorCode::kCorrupt, what + " is " + std::to_string(size) + "; 1 to " +
                                         std::to_string(kMostSize) + " are allowed");
}

Status checkSizes(const Hyperparameters& parameters) {
    constexpr std::int64_t kMostContext = (std::int64_t{1} << 31) - 1;  // positions are int32
    if (parameters.contextTokens < 1 || parameters.contextTokens > kMostContext) {
        return fail(ErrorCode::kCorrupt, "context length is " +
                                             std::to_string(parameters.contextTokens) + "; 1 to " +
                                             std::to_string(kMostContext) + " are allowed");
    }
    std::vector<std::pair<std::string, std::int64_t>> sizes{
        {"hidden size", parameters.hiddenSize}, {"vocabulary size", parameters.vocabSize}};
    for (std::size_t i = 0; i < parameters.heads.size(); ++i) {
        const std::string at = "layer " + std::to_string(i) + ": ";
        if (parameters.hasMlp) {
            sizes.emplace_back(at + "feed-forward length", parameters.intermediate[i]);
        }
        if (parameters.keepsState[i]) {
            if (auto status = checkState(parameters.state, at); !status) {
                return status;
            }
            continue;
        }
        sizes.insert(sizes.end(), {{at + "head count", parameters.heads[i]},
                                   {at + "key/value head count", parameters.kvHeads[i]},
                                   {at + "key length", parameters.keyDim},
                                   {at + "value length", parameters.valueDim}});
    }
    if (parameters.latent.rank != 0) {
        if (auto status = checkLatentSizes(parameters.latent, ""); !status) {
            return status;
        }
    }
    if (!parameters.hasExperts.empty()) {
        if (auto status = checkExperts(parameters.experts, ""); !status) {
            return status;
        }
    }
    for (const auto& [what, size] : sizes) {
        if (auto status = checkSize(what, size); !status) {
            return status;
        }
    }
    return {};
}

// Which rows of a fused tensor belong to q, k and v, in runs of `keyDim` or `valueDim` rows.
struct FusedRows {
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;

    [[nodiscard]] std::int64_t total() const {
        return heads * keyDim + kvHeads * (keyDim + valueDim);
    }
};

// Copies the rows that `groups` runs of `runRows` rows make, one run every `stride` rows.
TensorView gatherRuns(TensorTable& table, const TensorView& fused, std::int64_t first,
                      std::int64_t groups, std::int64_t runRows, std::int64_t stride) {
    std::vector<RowRun> runs;
    for (std::int64_t group = 0; group < groups; ++group) {
        runs.push_back({.first = first + group * stride, .count = runRows});
    }
    return gatherRows(table, fused, runs);
}

std::array<TensorView, 3> splitRows(TensorTable& table, const TensorView& fused,
                                    const FusedRows& rows, FusedQkv layout) {
    if (layout == FusedQkv::kBlocks) {
        const std::int64_t q = rows.heads * rows.keyDim;
        const std::int64_t k = rows.kvHeads * rows.keyDim;
        return {rowSlice(fused, 0, q), rowSlice(fused, q, k),
                rowSlice(fused, q + k, rows.kvHeads * rows.valueDim)};
    }
    // GPT-NeoX is the case of one query head a group.
    const std::int64_t queryRows = rows.heads / rows.kvHeads * rows.keyDim;
    const std::int64_t stride = queryRows + rows.keyDim + rows.valueDim;
    return {gatherRuns(table, fused, 0, rows.kvHeads, queryRows, stride),
            gatherRuns(table, fused, queryRows, rows.kvHeads, rows.keyDim, stride),
            gatherRuns(table, fused, queryRows + rows.keyDim, rows.kvHeads, rows.valueDim, stride)};
}

tl::unexpected<Error> wrongRows(const std::string& name, const TensorView& view,
                                std::int64_t wanted) {
    return fail(ErrorCode::kCorrupt, "tensor '" + name + "' has shape " + shapeText(view.shape) +
                                         "; " + std::to_string(wanted) + " rows were expected");
}

Status splitQkv(const Hyperparameters& parameters, std::size_t layer, std::string_view suffix,
                TensorTable& table) {
    const std::string prefix = layerPrefix(layer);
    const std::string name = prefix + "attn_qkv" + std::string(suffix);
    const auto fused = table.find(name);
    if (!fused) {
        return {};
    }
    const FusedRows rows{.heads = parameters.heads[layer],
                         .kvHeads = parameters.kvHeads[layer],
                         .keyDim = parameters.keyDim,
                         .valueDim = parameters.valueDim};
    if (fused->shape.rank < 1 || fused->shape.rank > 2 || fused->shape.dims[0] != rows.total()) {
        return wrongRows(name, *fused, rows.total());
    }
    if (parameters.fusedQkv != FusedQkv::kBlocks && rows.heads % rows.kvHeads != 0) {
        return fail(ErrorCode::kCorrupt, "tensor '" + name + "': " + std::to_string(rows.heads) +
                                             " heads cannot share " + std::to_string(rows.kvHeads) +
                                             " key/value heads evenly");
    }
    const auto parts = splitRows(table, *fused, rows, parameters.fusedQkv);
    constexpr std::array kNames{"attn_q", "attn_k", "attn_v"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        table.set(prefix + kNames[i] + std::string(suffix), parts[i]);
    }
    table.remove(name);
    return {};
}

// Gate's rows, then up's, `half` of each.
Status splitGateUp(const std::string& prefix, const std::string& end, std::int64_t half,
                   TensorTable& table) {
    const std::string name = prefix + "ffn_gate_up" + end;
    const auto fused = table.find(name);
    if (!fused) {
        return {};
    }
    if (fused->shape.rank < 1 || fused->shape.rank > 2 || fused->shape.dims[0] != 2 * half) {
        return wrongRows(name, *fused, 2 * half);
    }
    table.set(prefix + "ffn_gate" + end, rowSlice(*fused, 0, half));
    table.set(prefix + "ffn_up" + end, rowSlice(*fused, half, half));
    table.remove(name);
    return {};
}

AttentionSpec makeAttention(const Architecture& architecture, const Hyperparameters& parameters,
                            const TensorTable& table, std::size_t layer) {
    AttentionSpec attention{.heads = parameters.heads[layer],
                            .kvHeads = parameters.kvHeads[layer],
                            .keyDim = parameters.keyDim,
                            .valueDim = parameters.valueDim,
                            .window = parameters.window[layer],
                            .softcap = parameters.attentionSoftcap};
    // In float32, as the reference computes it.
    const double scale =
        parameters.attentionScale.value_or(1.0 / std::sqrt(static_cast<double>(parameters.keyDim)));
    attention.scale = static_cast<float>(
        parameters.scalesByLayer ? scale / static_cast<double>(layer + 1) : scale);
    if (!architecture.hasPositionEmbedding && parameters.hasRope[layer]) {
        attention.rope = parameters.localRope && attention.window > 0 ? 1 : 0;
    }
    attention.hasQkNorm =
        architecture.qkNorm == QkNorm::kHeads || architecture.qkNorm == QkNorm::kWholeRow ||
        (architecture.qkNorm == QkNorm::kIfPresent && table.has("blk.0.attn_q_norm.weight"));
    attention.hasSinks = architecture.hasSinks;
    attention.latent = parameters.latent;
    attention.isQkNormWholeRow = architecture.qkNorm == QkNorm::kWholeRow;
    attention.hasOutputGate = architecture.hasOutputGate;
    return attention;
}

// What the model gives instead of logits. A score's head is what its tensors say.
Status readResult(const Architecture& architecture, const Hyperparameters& parameters,
                  const TensorTable& table, ModelSpec& spec) {
    const bool readsBothWays = architecture.isBidirectional;
    spec.pooling = parameters.pooling.value_or(
        parameters.isScorer ? (readsBothWays ? Pooling::kFirst : Pooling::kLast)
                            : (readsBothWays ? Pooling::kMean : Pooling::kNone));
    if (!parameters.isScorer) {
        return {};
    }
    const auto output = table.find("cls.output.weight");
    if (!output || output->shape.rank != 2) {
        return fail(ErrorCode::kCorrupt,
                    output ? "tensor 'cls.output.weight' has shape " + shapeText(output->shape)
                           : "tensor 'cls.output.weight', which gives the scores, is missing");
    }
    spec.scoreHead = ScoreHead{.hasDense = table.has("cls.weight"),
                               .activation = architecture.scoreActivation,
                               .hasNorm = table.has("cls.norm.weight"),
                               .outputs = output->shape.dims[0]};
    return {};
}

// A rope's table is made from its size alone: it must not be larger than the file's own queries.
Status checkRotary(const Hyperparameters& parameters, const TensorTable& table) {
    const auto first = std::ranges::find(parameters.keepsState, false);
    const auto layer = static_cast<std::size_t>(first - parameters.keepsState.begin());
    for (const char* stem : {"attn_q.weight", "attn_qkv.weight"}) {
        const std::string name = layerPrefix(layer) + stem;
        const auto view = table.find(name);
        if (view && parameters.rope.rotaryDim > view->shape.elements()) {
            return fail(ErrorCode::kCorrupt,
                        "rotary dimension is " + std::to_string(parameters.rope.rotaryDim) +
                            "; tensor '" + name + "' has shape " + shapeText(view->shape));
        }
    }
    return {};
}

}  // namespace

Status checkLayerCount(std::int64_t layers, std::size_t tensors, const std::string& field) {
    if (layers >= 1 && static_cast<std::uint64_t>(layers) <= tensors) {
        return {};
    }
    return fail(ErrorCode::kCorrupt, field + " is " + std::to_string(layers) +
                                         "; 1 to the number of tensors, " +
                                         std::to_string(tensors) + ", are allowed");
}

void applyWindowRule(const Architecture& architecture, std::int64_t window, std::int64_t pattern,
                     Hyperparameters& parameters) {
    const std::int64_t every = pattern > 0 ? pattern : architecture.windowPattern;
    for (std::size_t i = 0; i < parameters.window.size(); ++i) {
        const auto layer = static_cast<std::int64_t>(i);
        const bool hasWindow =
            architecture.windows == Windows::kAll ||
            (architecture.windows == Windows::kAllButLast && layer % every != every - 1) ||
            (architecture.windows == Windows::kAllButFirst && layer % every != 0);
        parameters.window[i] = hasWindow ? window : parameters.window[i];
    }
}

void applyRopeInterval(std::int64_t interval, Hyperparameters& parameters) {
    for (std::int64_t i = 0; i < parameters.layers() && interval > 0; ++i) {
        parameters.hasRope[static_cast<std::size_t>(i)] = (i + 1) % interval != 0;
    }
}

void applyRopeRule(const Architecture& architecture, std::int64_t window,
                   Hyperparameters& parameters) {
    if (!architecture.ropesOnlyWindows || window == 0) {
        return;
    }
    for (std::size_t i = 0; i < parameters.hasRope.size(); ++i) {
        parameters.hasRope[i] = parameters.window[i] > 0;
    }
}

Status splitFused(const Hyperparameters& parameters, TensorTable& table) {
    if (auto status = checkSizes(parameters); !status) {
        return status;
    }
    for (std::size_t layer = 0; layer < parameters.heads.size(); ++layer) {
        for (const std::string_view suffix : {".weight", ".bias"}) {
            if (!parameters.keepsState[layer]) {
                if (auto status = splitQkv(parameters, layer, suffix, table); !status) {
                    return status;
                }
            }
            const std::string end(suffix);
            if (auto status =
                    splitGateUp(layerPrefix(layer), end, parameters.intermediate[layer], table);
                !status) {
                return status;
            }
        }
    }
    return {};
}

Status splitSharedExperts(const Hyperparameters& parameters, TensorTable& table) {
    for (std::size_t layer = 0; layer < parameters.heads.size(); ++layer) {
        if (auto status = splitGateUp(layerPrefix(layer), "_shexp.weight",
                                      parameters.experts.sharedIntermediate, table);
            !status) {
            return status;
        }
    }
    return {};
}

Result<ModelSpec> makeSpec(const Architecture& architecture, const Hyperparameters& parameters,
                           const TensorTable& table) {
    if (auto status = checkSizes(parameters); !status) {
        return forward(status);
    }
    if (auto status = checkRotary(parameters, table); !status) {
        return forward(status);
    }
    ModelSpec spec;
    spec.architecture = architecture.gguf;
    spec.vocabSize = parameters.vocabSize;
    spec.hiddenSize = parameters.hiddenSize;
    spec.contextTokens = parameters.contextTokens;
    spec.norm = {.kind = architecture.norm,
                 .eps = parameters.normEps,
                 .weightOffset = parameters.normOffset};
    const bool hasAttention = std::ranges::count(parameters.keepsState, false) > 0;
    if (!architecture.hasPositionEmbedding && hasAttention) {
        spec.ropes.push_back(parameters.rope);
        if (parameters.localRope) {
            spec.ropes.push_back(*parameters.localRope);
        }
    }
    const bool hasMlpNorm = table.has("blk.0.ffn_norm.weight");
    for (std::size_t i = 0; i < parameters.heads.size(); ++i) {
        const bool keepsState = parameters.keepsState[i];
        LayerSpec layer{.attention = keepsState ? AttentionSpec{}
                                                : makeAttention(architecture, parameters, table, i),
                        .state = keepsState ? parameters.state : StateSpec{},
                        .hasMlp = parameters.hasMlp,
                        .mlp = {.intermediate = parameters.intermediate[i],
                                .activation = parameters.activation,
                                .isGated = architecture.isGated},
                        .attentionNorms = architecture.attentionNorms,
                        .mlpNorms = architecture.mlpNorms,
                        .isParallel = parameters.isParallel};
        layer.attentionNorms.hasPre =
            layer.attentionNorms.hasPre && !(architecture.skipsFirstNorm && i == 0);
        if (!parameters.hasExperts.empty() && parameters.hasExperts[i]) {
            layer.experts = parameters.experts;
        }
        // Parallel blocks come with one norm or two; their tensors tell.
        if (layer.isParallel) {
            layer.mlpNorms.hasPre = hasMlpNorm;
        }
        spec.layers.push_back(layer);
    }
    spec.embeddingScale = static_cast<float>(parameters.embeddingScale);
    spec.residualScale = static_cast<float>(parameters.residualScale);
    spec.logitScale = static_cast<float>(parameters.logitScale);
    spec.logitSoftcap = parameters.logitSoftcap;
    spec.isHeadTied = parameters.isHeadTied.value_or(!table.has("output.weight"));
    spec.hasPositionEmbedding = architecture.hasPositionEmbedding;
    spec.positionOffset = parameters.positionOffset;
    spec.hasEmbeddingNorm = architecture.hasEmbeddingNorm;
    spec.hasOutputNorm = architecture.hasOutputNorm;
    spec.isBidirectional = architecture.isBidirectional;
    if (const auto types = table.find("token_types.weight"); types && architecture.hasTokenTypes) {
        spec.tokenTypes = types->shape.dims[0];
    }
    if (auto status = readResult(architecture, parameters, table, spec); !status) {
        return forward(status);
    }
    return spec;
}

}  // namespace quern::engine
