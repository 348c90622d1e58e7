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

void completeInfo(const ModelSpec& spec, ModelInfo& info) {
    info.isSupported = true;
    info.contextTokens = spec.contextTokens;
    info.layers = static_cast<std::int64_t>(spec.layers.size());
    info.hiddenSize = spec.hiddenSize;
    info.vocabSize = spec.vocabSize;
    info.cacheLayers.clear();
    for (const LayerSpec& layer : spec.layers) {
        const AttentionSpec& attention = layer.attention;
        info.cacheLayers.push_back(
            {.elementsPerToken = attention.kvHeads * (attention.keyDim + attention.valueDim),
             .window = attention.window,
             .stateFloats = stateFloats(layer.state, spec.hiddenSize)});
        info.intermediateSize = std::max(info.intermediateSize, layer.mlp.intermediate);
        info.queryElements = std::max({info.queryElements, attention.heads * attention.keyDim,
                                       stateWidth(layer.state, spec.hiddenSize)});
    }
}

}  // namespace quern::engine
