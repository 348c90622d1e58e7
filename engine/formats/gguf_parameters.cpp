#include "engine/formats/gguf_parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "engine/formats/gguf_experts.h"
#include "engine/formats/gguf_keys.h"
#include "engine/formats/latent.h"
#include "engine/formats/state_parameters.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

using Keys = GgufKeys;

constexpr std::int64_t kMostGuessingLayers = 64;

// The values of a small vector of the file, whatever its type.
std::vector<double> readFactors(const GgufFile& file, std::string_view name, Keys& keys) {
    const GgufTensor* tensor = file.find(name);
    if (tensor == nullptr) {
        return {};
    }
    constexpr std::int64_t kMostFactors = 1 << 16;
    if (tensor->view.shape.elements() > kMostFactors) {
        keys.setError({.code = ErrorCode::kCorrupt,
                       .message = "tensor " + quotedName(name) + " has " +
                                  std::to_string(tensor->view.shape.elements()) +
                                  " elements; a rotary dimension has no more than " +
                                  std::to_string(kMostFactors)});
        return {};
    }
    std::vector<float> values(static_cast<std::size_t>(tensor->view.shape.elements()));
    const std::span<const std::byte> bytes(tensor->view.data,
                                           static_cast<std::size_t>(tensor->bytes));
    if (auto status = kernels::dequantize(tensor->view.type, bytes, values); !status) {
        status.error().message = "tensor " + quotedName(name) + ": " + status.error().message;
        keys.setError(std::move(status.error()));
    }
    return {values.begin(), values.end()};
}

void readRopeScaling(Keys& keys, bool roundsYarn, RopeSpec& rope) {
    using Scaling = RopeSpec::Scaling;
    const std::string_view type = keys.stringOr("rope.scaling.type", "");
    if (type == "linear" || (type.empty() && keys.has("rope.scale_linear"))) {
        rope.scaling = Scaling::kLinear;
        rope.factor = keys.numberOr("rope.scaling.factor", keys.numberOr("rope.scale_linear", 1));
        if (rope.factor == 0) {  // converters write 0 for "none"
            rope.scaling = Scaling::kNone;
        }
        return;
    }
    if (type == "yarn") {
        rope.scaling = Scaling::kYarn;
        rope.factor = keys.numberOr("rope.scaling.factor", 1);
        rope.yarnTruncate = roundsYarn;
        rope.betaFast = keys.numberOr("rope.scaling.yarn_beta_fast", rope.betaFast);
        rope.betaSlow = keys.numberOr("rope.scaling.yarn_beta_slow", rope.betaSlow);
        if (keys.has("rope.scaling.yarn_attn_factor") || keys.has("rope.scaling.attn_factor")) {
            // A multiplier of YaRN's own magnitude.
            rope.attentionFactor = keys.numberOr("rope.scaling.yarn_attn_factor",
                                                 keys.numberOr("rope.scaling.attn_factor", 1)) *
                                   (rope.factor > 1 ? 0.1 * std::log(rope.factor) + 1 : 1);
        }
        return;
    }
    if (type == "longrope" || !rope.longFactors.empty()) {
        rope.scaling = Scaling::kLongRope;
        rope.attentionFactor = keys.numberOr("rope.scaling.attn_factor", 1);
        return;
    }
    if (!type.empty() && type != "none") {
        keys.setError({.code = ErrorCode::kUnsupported,
                       .message = "metadata key " + quotedName(keys.full("rope.scaling.type")) +
                                  " is " + quotedName(type) +
                                  "; none, linear, yarn and longrope are supported"});
    }
}

void readRope(const GgufFile& file, const Architecture& architecture, Keys& keys,
              Hyperparameters& parameters) {
    RopeSpec& rope = parameters.rope;
    rope.layout = architecture.ggufRope;
    rope.rotaryDim = keys.integerOr("rope.dimension_count", parameters.keyDim);
    rope.theta = keys.numberOr("rope.freq_base", 10000.0);
    rope.originalContext =
        keys.integerOr("rope.scaling.original_context_length", parameters.contextTokens);
    rope.factors = readFactors(file, "rope_freqs.weight", keys);
    if (rope.factors.empty()) {
        rope.factors = readFactors(file, "rope_factors_short.weight", keys);
        rope.longFactors = readFactors(file, "rope_factors_long.weight", keys);
    }
    readRopeScaling(keys, architecture.roundsYarn, rope);
    if (architecture.hasLocalTheta) {
        const double theta = architecture.localTheta > 0 ? architecture.localTheta : rope.theta;
        parameters.localRope = RopeSpec{.rotaryDim = rope.rotaryDim,
                                        .theta = keys.numberOr("rope.freq_base_swa", theta),
                                        .layout = rope.layout};
    }
}

void readWindows(const GgufMetadata& metadata, const Architecture& architecture, Keys& keys,
                 Hyperparameters& parameters) {
    std::int64_t window = keys.integerOr("attention.sliding_window", 0);
    if (architecture.isBidirectional && window > 0) {
        window = window / 2 + 1;  // so many keys to both sides together, and the token's own
    }
    constexpr std::string_view kPattern = "attention.sliding_window_pattern";
    const GgufValue* pattern = metadata.find(keys.full(kPattern));
    if (pattern != nullptr && pattern->isArray) {
        const auto isWindow = keys.byLayer(kPattern, parameters.layers());
        for (std::size_t i = 0; i < isWindow.size(); ++i) {
            parameters.window[i] = isWindow[i] != 0 ? window : 0;
        }
    } else {
        applyWindowRule(architecture, window, keys.integerOr(kPattern, 0), parameters);
    }
}

// The format's numbers; 0 says that the file has none.
void readPooling(Keys& keys, Hyperparameters& parameters) {
    const std::int64_t type = keys.integerOr("pooling_type", 0);
    switch (type) {
        case 0:
            return;
        case 1:
            parameters.pooling = Pooling::kMean;
            return;
        case 2:
            parameters.pooling = Pooling::kFirst;
            return;
        case 3:
            parameters.pooling = Pooling::kLast;
            return;
        case 4:
            parameters.isScorer = true;
            return;
        default:
            keys.setError({.code = ErrorCode::kUnsupported,
                           .message = "metadata key " + quotedName(keys.full("pooling_type")) +
                                      " is " + std::to_string(type) +
                                      "; 0 (none) to 4 (rank) are supported"});
    }
}

}  // namespace

Result<Hyperparameters> readGgufParameters(const GgufFile& file, const Architecture& architecture) {
    const GgufMetadata& metadata = file.metadata();
    Keys keys(metadata, architecture.gguf);
    Hyperparameters parameters;
    const std::int64_t blocks = keys.integer("block_count");
    parameters.guessingLayers = keys.integerOr("nextn_predict_layers", 0);
    if (parameters.guessingLayers < 0 || parameters.guessingLayers > kMostGuessingLayers) {
        keys.setError({.code = ErrorCode::kCorrupt,
                       .message = "metadata key " + quotedName(keys.full("nextn_predict_layers")) +
                                  " is " + std::to_string(parameters.guessingLayers) + "; 0 to " +
                                  std::to_string(kMostGuessingLayers) + " are allowed"});
    }
    if (keys.error()) {
        return tl::unexpected<Error>(*keys.error());
    }
    const std::int64_t layers =
        std::max(blocks, parameters.guessingLayers) - parameters.guessingLayers;
    if (auto status =
            checkLayerCount(layers, file.tensors().size(), quotedName(keys.full("block_count")));
        !status) {
        return forward(status);
    }
    parameters.hiddenSize = keys.integer("embedding_length");
    parameters.contextTokens = keys.integer("context_length");
    parameters.heads = keys.byLayer("attention.head_count", layers);
    parameters.kvHeads = keys.has("attention.head_count_kv")
                             ? keys.byLayer("attention.head_count_kv", layers)
                             : parameters.heads;
    parameters.intermediate = keys.byLayer("feed_forward_length", layers);
    const std::int64_t perHead =
        parameters.heads.front() > 0 ? parameters.hiddenSize / parameters.heads.front() : 0;
    parameters.keyDim = keys.integerOr("attention.key_length", perHead);
    parameters.valueDim = keys.integerOr("attention.value_length", perHead);
    if (const GgufTensor* table = file.find("token_embd.weight"); table != nullptr) {
        parameters.vocabSize = table->view.shape.dims[0];
    } else {
        return fail(ErrorCode::kCorrupt, "tensor 'token_embd.weight' is missing");
    }

    const bool isLayerNorm = architecture.norm == kernels::NormKind::kLayer;
    const std::string_view first =
        isLayerNorm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon";
    parameters.normEps = static_cast<float>(keys.numberOr(first, 1e-5));
    parameters.activation = architecture.activation;
    parameters.isParallel = keys.booleanOr("use_parallel_residual", architecture.isParallel);

    const auto count = static_cast<std::size_t>(layers);
    parameters.window.assign(count, 0);
    parameters.hasRope.assign(count, true);
    parameters.keepsState.assign(count, false);
    parameters.hasMlp = architecture.hasMlp;
    readGgufState(keys, architecture, parameters);
    readRope(file, architecture, keys, parameters);
    applyRopeInterval(architecture.noRopeInterval, parameters);
    readWindows(metadata, architecture, keys, parameters);
    applyRopeRule(architecture, keys.integerOr("attention.sliding_window", 0), parameters);
    readGgufExperts(file, architecture, keys, parameters);
    readPooling(keys, parameters);

    if (keys.has("attention.scale")) {
        parameters.attentionScale = keys.numberOr("attention.scale", 0);
    } else if (architecture.scaleByHiddenLayers == layers) {
        parameters.attentionScale = 1.0 / std::sqrt(static_cast<double>(perHead));
    }
    readGgufLatent(keys, architecture, parameters);
    parameters.attentionSoftcap = static_cast<float>(keys.numberOr("attn_logit_softcapping", 0));
    parameters.logitSoftcap = static_cast<float>(keys.numberOr("final_logit_softcapping", 0));
    parameters.embeddingScale = architecture.scalesEmbedding
                                    ? std::sqrt(static_cast<double>(parameters.hiddenSize))
                                    : keys.numberOr("embedding_scale", 1);
    parameters.residualScale = keys.numberOr("residual_scale", 1);
    parameters.logitScale = keys.numberOr("logit_scale", 1);
    if (architecture.dividesLogits) {
        parameters.logitScale = 1.0 / parameters.logitScale;
    }
    if (keys.error()) {
        return tl::unexpected<Error>(*keys.error());
    }
    return parameters;
}

}  // namespace quern::engine
