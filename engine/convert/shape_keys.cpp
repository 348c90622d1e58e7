#include "engine/convert/shape_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "engine/convert/kind_keys.h"
#include "engine/convert/prefixed_keys.h"
#include "engine/model/rope.h"

namespace quern::engine::convert {

namespace {

using Scaling = RopeSpec::Scaling;

std::vector<float> asFloats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

/// Llama 3's frequencies as divisors of the plain ones, which is how the format has them.
Result<std::vector<float>> llama3Factors(const RopeSpec& rope) {
    auto scaled = ropeTable(rope, rope.originalContext);
    RopeSpec plain = rope;
    plain.scaling = Scaling::kNone;
    auto base = ropeTable(plain, rope.originalContext);
    if (!scaled || !base) {
        return forward(scaled ? base : scaled);
    }
    std::vector<float> factors;
    for (std::size_t i = 0; i < scaled->freqs.size(); ++i) {
        factors.push_back(base->freqs[i] / scaled->freqs[i]);
    }
    return factors;
}

void addYarn(const RopeSpec& rope, PrefixedKeys& keys) {
    const RopeSpec standard;
    keys.text("rope.scaling.type", "yarn");
    keys.number("rope.scaling.factor", rope.factor);
    if (rope.betaFast != standard.betaFast) {
        keys.number("rope.scaling.yarn_beta_fast", rope.betaFast);
    }
    if (rope.betaSlow != standard.betaSlow) {
        keys.number("rope.scaling.yarn_beta_slow", rope.betaSlow);
    }
    if (rope.attentionFactor && rope.mscaleAllDim.value_or(0) == 0) {
        // A multiplier of YaRN's own magnitude.
        const double own = rope.factor > 1 ? 0.1 * std::log(rope.factor) + 1 : 1;
        keys.number("rope.scaling.yarn_attn_factor", *rope.attentionFactor / own);
    }
}

Result<std::vector<FactorTensor>> addRope(const ReadModel& model, PrefixedKeys& keys) {
    const Hyperparameters& parameters = model.parameters;
    const RopeSpec& rope = parameters.rope;
    std::vector<FactorTensor> tensors;
    keys.size("rope.dimension_count", rope.rotaryDim);
    keys.number("rope.freq_base", rope.theta);
    if (parameters.localRope) {
        keys.number("rope.freq_base_swa", parameters.localRope->theta);
    }
    if (rope.scaling != Scaling::kNone && rope.scaling != Scaling::kLlama3) {
        keys.size("rope.scaling.original_context_length", rope.originalContext);
    }
    switch (rope.scaling) {
        case Scaling::kNone:
            if (!rope.factors.empty()) {
                tensors.push_back({"rope_freqs.weight", asFloats(rope.factors)});
            }
            break;
        case Scaling::kLinear:
            keys.text("rope.scaling.type", "linear");
            keys.number("rope.scaling.factor", rope.factor);
            break;
        case Scaling::kYarn:
            addYarn(rope, keys);
            break;
        case Scaling::kLlama3: {
            auto factors = llama3Factors(rope);
            if (!factors) {
                return forward(factors);
            }
            tensors.push_back({"rope_freqs.weight", std::move(*factors)});
            break;
        }
        case Scaling::kLongRope: {
            keys.text("rope.scaling.type", "longrope");
            auto table = ropeTable(rope, parameters.contextTokens);
            if (!table) {
                return forward(table);
            }
            keys.number("rope.scaling.attn_factor", static_cast<double>(table->magnitude));
            tensors.push_back({"rope_factors_short.weight", asFloats(rope.factors)});
            tensors.push_back({"rope_factors_long.weight", asFloats(rope.longFactors)});
            break;
        }
        case Scaling::kDynamicNtk:
            return fail(ErrorCode::kUnsupported,
                        "the model's rope is scaled dynamically, for which GGUF has no key");
    }
    return tensors;
}

// Windows, where the architecture's own rule would not give them.
void addWindows(const ReadModel& model, PrefixedKeys& keys) {
    const Hyperparameters& parameters = model.parameters;
    const std::int64_t window =
        *std::max_element(parameters.window.begin(), parameters.window.end());
    if (window == 0) {
        return;
    }
    // Models that read both ways count the keys of both sides.
    keys.size("attention.sliding_window",
              model.architecture->isBidirectional ? 2 * (window - 1) : window);
    Hyperparameters byRule = parameters;
    byRule.window.assign(parameters.window.size(), 0);
    applyWindowRule(*model.architecture, window, 0, byRule);
    if (byRule.window != parameters.window) {
        std::vector<bool> hasWindow;
        for (const std::int64_t tokens : parameters.window) {
            hasWindow.push_back(tokens > 0);
        }
        keys.flags("attention.sliding_window_pattern", hasWindow);
    }
}

void addScales(const ReadModel& model, PrefixedKeys& keys) {
    const Hyperparameters& parameters = model.parameters;
    const auto plainScale = [](std::int64_t size) {
        return static_cast<float>(1.0 / std::sqrt(static_cast<double>(size)));
    };
    // What a file without the key means.
    const float standard = model.architecture->scaleByHiddenLayers == parameters.layers()
                               ? plainScale(parameters.hiddenSize / parameters.heads.front())
                               : plainScale(parameters.keyDim);
    const auto withAttention = std::ranges::find(parameters.keepsState, false);
    if (withAttention != parameters.keepsState.end() && parameters.latent.rank == 0) {
        const auto layer = static_cast<std::size_t>(withAttention - parameters.keepsState.begin());
        const float scale = model.spec.layers[layer].attention.scale;
        if (scale != standard) {
            keys.number("attention.scale", static_cast<double>(scale));
        }
    }
    const auto unless = [&](double usual, std::string_view key, double value) {
        if (value != usual) {
            keys.number(key, value);
        }
    };
    unless(0, "attn_logit_softcapping", static_cast<double>(parameters.attentionSoftcap));
    unless(0, "final_logit_softcapping", static_cast<double>(parameters.logitSoftcap));
    if (!model.architecture->scalesEmbedding) {
        unless(1, "embedding_scale", parameters.embeddingScale);
    }
    unless(1, "residual_scale", parameters.residualScale);
    unless(1, "logit_scale",
           model.architecture->dividesLogits ? 1 / parameters.logitScale : parameters.logitScale);
}

void addHeads(const Hyperparameters& parameters, PrefixedKeys& keys) {
    std::vector<std::int64_t> kvHeads = parameters.kvHeads;
    // No key/value heads is how the format marks a layer with a short convolution.
    for (std::size_t i = 0; i < kvHeads.size(); ++i) {
        const bool isConvolution =
            parameters.keepsState[i] && std::holds_alternative<ShortConvSpec>(parameters.state);
        kvHeads[i] = isConvolution ? 0 : kvHeads[i];
    }
    keys.byLayer("attention.head_count_kv", kvHeads);
    keys.size("attention.key_length", parameters.keyDim);
    keys.size("attention.value_length", parameters.valueDim);
}

}  // namespace

Result<std::vector<FactorTensor>> addShapeKeys(const ReadModel& model, GgufKeys& out) {
    const Hyperparameters& parameters = model.parameters;
    const Architecture& architecture = *model.architecture;
    const bool hasAttention = std::ranges::count(parameters.keepsState, false) > 0;
    const std::vector<std::int64_t> none(parameters.heads.size(), 0);
    PrefixedKeys keys(out, architecture.gguf);
    keys.size("block_count", parameters.layers());
    keys.size("context_length", parameters.contextTokens);
    keys.size("embedding_length", parameters.hiddenSize);
    keys.byLayer("feed_forward_length", parameters.hasMlp ? parameters.intermediate : none);
    keys.byLayer("attention.head_count", hasAttention ? parameters.heads : none);
    if (hasAttention) {
        addHeads(parameters, keys);
    }
    keys.size("vocab_size", parameters.vocabSize);
    keys.number(architecture.norm == kernels::NormKind::kLayer ? "attention.layer_norm_epsilon"
                                                               : "attention.layer_norm_rms_epsilon",
                static_cast<double>(parameters.normEps));
    if (!architecture.isBidirectional) {
        keys.flag("use_parallel_residual", parameters.isParallel);
    }
    addExpertKeys(model, keys);
    addLatentKeys(model, keys);
    addStateKeys(model, keys);
    addVectorKeys(model, keys);
    addWindows(model, keys);
    addScales(model, keys);
    if (architecture.hasPositionEmbedding || !hasAttention) {
        return std::vector<FactorTensor>();
    }
    return addRope(model, keys);
}

}  // namespace quern::engine::convert
