#include "engine/formats/model_facts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/quant.h"

namespace quern::engine {

void addTensor(ModelInfo& info, std::string name, const kernels::TensorView& view,
               std::int64_t bytes) {
    TensorSummary summary{.name = std::move(name), .type = view.type, .shape = {}, .bytes = bytes};
    for (int i = 0; i < view.shape.rank; ++i) {
        summary.shape.push_back(view.shape.dims[static_cast<std::size_t>(i)]);
    }
    info.parameters += view.shape.elements();
    info.weightBytes += bytes;
    info.tensors.push_back(std::move(summary));
}

std::string mostBytesType(const ModelInfo& info) {
    std::map<kernels::DType, std::int64_t> bytes;
    for (const TensorSummary& tensor : info.tensors) {
        bytes[tensor.type] += tensor.bytes;
    }
    const auto most =
        std::max_element(bytes.begin(), bytes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? std::string() : std::string(kernels::traits(most->first).name);
}

namespace {

// A block of experts takes as much room for a token as a block this wide would, which has gate, up
// and the product: a part of it is the results of the experts before they are added up.
std::int64_t widthOfExperts(const ExpertsSpec& experts, std::int64_t hidden) {
    return experts.used * (experts.intermediate + (hidden + 2) / 3) + experts.sharedIntermediate;
}

// Of the gated experts that a token does not take; no more than `all`, for a header may claim
// matrices that the file cannot hold.
std::int64_t idleParameters(const ExpertsSpec& experts, std::int64_t hidden, std::int64_t all) {
    const double idle = static_cast<double>(experts.count - experts.used) * 3 *
                        static_cast<double>(experts.intermediate) * static_cast<double>(hidden);
    return static_cast<std::int64_t>(std::min(idle, static_cast<double>(all)));
}

}  // namespace

void completeInfo(const ModelSpec& spec, ModelInfo& info) {
    info.isSupported = true;
    info.contextTokens = spec.contextTokens;
    info.layers = static_cast<std::int64_t>(spec.layers.size());
    info.hiddenSize = spec.hiddenSize;
    info.vocabSize = spec.vocabSize;
    info.activeParameters = info.parameters;
    info.task = spec.scoreHead                   ? ModelTask::kScore
                : spec.pooling != Pooling::kNone ? ModelTask::kEmbed
                                                 : ModelTask::kGenerate;
    info.pooling = spec.pooling;
    info.vectorSize = spec.scoreHead                   ? spec.scoreHead->outputs
                      : spec.pooling != Pooling::kNone ? spec.hiddenSize
                                                       : 0;
    info.isBidirectional = spec.isBidirectional;
    info.tokenTypes = spec.tokenTypes;
    info.cacheLayers.clear();
    for (const LayerSpec& layer : spec.layers) {
        const AttentionSpec& attention = layer.attention;
        if (layer.experts.count > 0) {
            info.intermediateSize =
                std::max(info.intermediateSize, widthOfExperts(layer.experts, spec.hiddenSize));
            info.activeParameters -=
                idleParameters(layer.experts, spec.hiddenSize, info.activeParameters);
        } else {
            info.intermediateSize = std::max(info.intermediateSize, layer.mlp.intermediate);
        }
        info.queryElements = std::max({info.queryElements, attention.heads * attention.keyDim,
                                       stateWidth(layer.state, spec.hiddenSize)});
        if (spec.isBidirectional && !info.cacheLayers.empty()) {
            continue;  // all write over one layer's
        }
        // Latent attention's values are part of its keys.
        const std::int64_t valuesKept = attention.latent.rank > 0 ? 0 : attention.valueDim;
        info.cacheLayers.push_back(
            {.elementsPerToken = attention.kvHeads * (attention.keyDim + valuesKept),
             .window = spec.isBidirectional ? 0 : attention.window,
             .stateFloats = stateFloats(layer.state, spec.hiddenSize)});
    }
}

}  // namespace quern::engine
