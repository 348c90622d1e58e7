#include "engine/formats/hf_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "engine/formats/hf_config.h"
#include "engine/formats/hf_experts.h"
#include "engine/formats/hf_rope.h"
#include "engine/formats/latent.h"
#include "engine/formats/state_parameters.h"

namespace quern::engine {

namespace {

using kernels::Activation;

Activation readActivation(HfConfig& config, const Architecture& architecture) {
    struct Named {
        std::string_view name;
        Activation activation;
    };
    constexpr std::array kNamed{
        Named{"silu", Activation::kSilu},
        Named{"swish", Activation::kSilu},
        Named{"swiglu", Activation::kSilu},
        Named{"gelu", Activation::kGelu},
        Named{"gelu_python", Activation::kGelu},
        Named{"gelu_new", Activation::kGeluTanh},
        Named{"gelu_pytorch_tanh", Activation::kGeluTanh},
        Named{"gelu_fast", Activation::kGeluTanh},
        Named{"gelu_accurate", Activation::kGeluTanh},
        Named{"relu", Activation::kRelu},
        Named{"relu2", Activation::kRelu2},
        Named{"sigmoid", Activation::kSigmoid},
        Named{"tanh", Activation::kTanh},
        Named{"linear", Activation::kIdentity},
    };
    const std::string name =
        config.string({"hidden_activation", "hidden_act", "activation_function", "activation"});
    if (name.empty()) {
        return architecture.activation;
    }
    const auto* found = std::ranges::find(kNamed, name, &Named::name);
    if (found == kNamed.end()) {
        config.setError(ErrorCode::kUnsupported,
                        "hidden_act is '" + name.substr(0, 64) +
                            "'; silu, gelu, gelu_new, gelu_pytorch_tanh, relu, relu2, sigmoid, "
                            "tanh and linear are supported");
        return architecture.activation;
    }
    return found->activation == Activation::kGelu && architecture.meansTanhByGelu
               ? Activation::kGeluTanh
               : found->activation;
}

// Falcon's three generations: one key/value head for all, groups, or one a head.
void readFalcon(HfConfig& config, Hyperparameters& parameters, std::int64_t heads,
                std::int64_t& kvHeads) {
    if (config.booleanOr("alibi", false)) {
        config.setError(ErrorCode::kUnsupported,
                        "alibi is true: positions as biases are not supported yet; the nearest "
                        "that is supported is Falcon with rope");
    }
    const bool isGrouped = config.booleanOr("new_decoder_architecture", false);
    if (isGrouped) {
        kvHeads = config.integerOr({"num_kv_heads"}, heads);
        parameters.fusedQkv = FusedQkv::kKvGroups;
    } else if (config.booleanOr("multi_query", true)) {
        kvHeads = 1;
        parameters.fusedQkv = FusedQkv::kBlocks;
    } else {
        kvHeads = heads;
        parameters.fusedQkv = FusedQkv::kHeads;
    }
    parameters.isParallel = isGrouped || config.booleanOr("parallel_attn", true);
}

void readSizes(HfConfig& config, const Architecture& architecture, std::int64_t layers,
               Hyperparameters& parameters) {
    parameters.vocabSize = config.required({"vocab_size"});
    parameters.hiddenSize = config.required({"hidden_size", "n_embd"});
    parameters.contextTokens = config.required({"max_position_embeddings", "n_positions", "n_ctx"});
    if (architecture.countsPositionsFromPad) {
        parameters.positionOffset = config.integerOr({"pad_token_id"}, 1) + 1;
        parameters.contextTokens -= parameters.positionOffset;
    }
    const std::int64_t heads = config.required({"num_attention_heads", "n_head"});
    std::int64_t kvHeads = config.integerOr({"num_key_value_heads"}, heads);
    parameters.isParallel = config.booleanOr("use_parallel_residual", architecture.isParallel);
    parameters.fusedQkv = architecture.fusedQkv;
    if (parameters.fusedQkv == FusedQkv::kHeads) {
        kvHeads = heads;  // GPT-NeoX knows no groups, whatever a config says
    }
    if (architecture.gguf == "falcon") {
        readFalcon(config, parameters, heads, kvHeads);
    }
    const std::int64_t most = std::int64_t{1} << 40;
    const std::int64_t fourfold = parameters.hiddenSize < most ? 4 * parameters.hiddenSize : 0;
    const std::int64_t intermediate =
        config.integerOr({"intermediate_size", "n_inner", "ffn_hidden_size"}, fourfold);
    const auto count = static_cast<std::size_t>(layers);
    parameters.heads.assign(count, heads);
    parameters.kvHeads.assign(count, kvHeads);
    parameters.intermediate.assign(count, intermediate);
    parameters.keyDim =
        config.integerOr({"head_dim"}, heads > 0 ? parameters.hiddenSize / heads : 0);
    parameters.valueDim = parameters.keyDim;
}

// Kinds of layers as a list names them; false where there is no list.
bool readLayerTypes(HfConfig& config, const Architecture& architecture, std::int64_t window,
                    Hyperparameters& parameters) {
    const Json* types = config.find({"layer_types"});
    if (types == nullptr) {
        return false;
    }
    if (!types->is_array() || types->size() != parameters.window.size()) {
        config.setError(ErrorCode::kCorrupt, "layer_types is no list of " +
                                                 std::to_string(parameters.window.size()) +
                                                 " kinds, one a layer");
        return true;
    }
    for (std::size_t i = 0; i < types->size(); ++i) {
        const Json& type = (*types)[i];
        const bool isState =
            type.is_string() && isStateLayerType(architecture, type.get_ref<const std::string&>());
        if (type == "full_attention" || isState) {
            parameters.window[i] = 0;
        } else if (type == "sliding_attention") {
            parameters.window[i] = window;
        } else {
            config.setError(ErrorCode::kUnsupported,
                            "layer_types: layer " + std::to_string(i) +
                                " is neither full_attention nor sliding_attention");
        }
    }
    return true;
}

// 0 where there is none.
std::int64_t readWindow(HfConfig& config, const Architecture& architecture) {
    if (architecture.isBidirectional && config.number({"local_attention"})) {
        // So many keys to both sides together, and the token's own.
        return config.integerOr({"local_attention"}, 0) / 2 + 1;
    }
    return config.booleanOr("use_sliding_window", true) ? config.integerOr({"sliding_window"}, 0)
                                                        : 0;
}

void readWindows(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters) {
    const std::int64_t window = readWindow(config, architecture);
    if (readLayerTypes(config, architecture, window, parameters)) {
        return;
    }
    const std::int64_t middle = config.integerOr({"max_window_layers"}, parameters.layers());
    for (std::int64_t i = 0; i < parameters.layers(); ++i) {
        const bool isIn =
            (architecture.windows == Windows::kFromLayer && i >= middle) ||
            (architecture.windows == Windows::kOddBefore && i < middle && i % 2 == 0) ||
            (architecture.windows == Windows::kWithoutRope &&
             !parameters.hasRope[static_cast<std::size_t>(i)]);
        parameters.window[static_cast<std::size_t>(i)] = isIn ? window : 0;
    }
    std::int64_t every = 0;
    const Json* pattern = config.find({"sliding_window_pattern", "_sliding_window_pattern"});
    if (pattern != nullptr && pattern->is_string()) {
        // "LLLG": one letter a layer of the pattern, the last one sees all.
        every = static_cast<std::int64_t>(pattern->get_ref<const std::string&>().size());
    } else {
        every = config.integerOr(
            {"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"}, 0);
    }
    applyWindowRule(architecture, window, every, parameters);
}

// Layers without positions, where a list or an interval names them.
void readPositionLayers(HfConfig& config, const Architecture& architecture,
                        Hyperparameters& parameters) {
    if (architecture.noRopeInterval == 0) {
        return;
    }
    const Json* layers = config.find({"no_rope_layers"});
    if (layers != nullptr && layers->is_array() && !layers->empty()) {
        // Despite its name 1 stands for a layer with rope.
        const std::vector<double> uses = config.numbers(*layers, "no_rope_layers");
        if (uses.size() != parameters.hasRope.size()) {
            config.setError(ErrorCode::kCorrupt,
                            "no_rope_layers has " + std::to_string(uses.size()) + " entries for " +
                                std::to_string(parameters.hasRope.size()) + " layers");
            return;
        }
        for (std::size_t i = 0; i < uses.size(); ++i) {
            parameters.hasRope[i] = uses[i] != 0;
        }
        return;
    }
    applyRopeInterval(config.integerOr({"no_rope_layer_interval"}, architecture.noRopeInterval),
                      parameters);
}

void readScales(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters) {
    if (const auto scalar = config.number({"query_pre_attn_scalar"})) {
        parameters.attentionScale = 1.0 / std::sqrt(*scalar);
    } else {
        parameters.attentionScale = config.number({"attention_multiplier"});
    }
    if (!config.booleanOr("scale_attn_weights", true)) {
        parameters.attentionScale = 1.0;
    }
    parameters.scalesByLayer = config.booleanOr("scale_attn_by_inverse_layer_idx", false);
    parameters.attentionSoftcap =
        static_cast<float>(config.numberOr({"attn_logit_softcapping"}, 0));
    parameters.logitSoftcap = static_cast<float>(config.numberOr({"final_logit_softcapping"}, 0));
    parameters.embeddingScale = architecture.scalesEmbedding
                                    ? std::sqrt(static_cast<double>(parameters.hiddenSize))
                                    : config.numberOr({"embedding_multiplier"}, 1);
    parameters.residualScale = config.numberOr({"residual_multiplier"}, 1);
    parameters.logitScale =
        config.numberOr({"logit_scale"}, 1) / config.numberOr({"logits_scaling"}, 1);
}

// Switches that change the model and that none of the models here has on.
void checkSwitches(HfConfig& config) {
    for (const std::string_view key :
         {"use_bidirectional_attention", "is_decoder", "add_cross_attention"}) {
        if (config.booleanOr(key, false)) {
            config.setError(ErrorCode::kUnsupported,
                            std::string(key) + " is true, which is not supported yet");
        }
    }
    if (config.has({"clip_qkv"})) {
        config.setError(ErrorCode::kUnsupported,
                        "clip_qkv is set: queries, keys and values within bounds are not "
                        "supported yet");
    }
}

// Of quantized checkpoints those are read whose matrices are 8-bit floats with scales, or MXFP4.
void checkQuantization(HfConfig& config) {
    const Json* quantization = config.find({"quantization_config"});
    if (quantization == nullptr || !quantization->is_object()) {
        return;
    }
    const auto text = [&](const char* key) {
        const auto found = quantization->find(key);
        return found != quantization->end() && found->is_string() ? found->get<std::string>()
                                                                  : std::string();
    };
    const std::string method = text("quant_method");
    if (method == "fp8" || method == "mxfp4" ||
        (method == "compressed-tensors" && text("format") == "float-quantized")) {
        return;
    }
    config.setError(ErrorCode::kUnsupported,
                    "quantization_config: checkpoints quantized by '" + method.substr(0, 64) +
                        "' are not supported yet; the nearest that are supported are the same "
                        "model in BF16, FP8 or MXFP4, or as GGUF");
}

}  // namespace

Result<Hyperparameters> readHfParameters(const Json& json, const Architecture& architecture,
                                         std::string_view modelType, std::size_t tensors) {
    HfConfig config(json, architecture, modelType);
    Hyperparameters parameters;
    const std::int64_t layers = config.required({"num_hidden_layers", "n_layer"});
    if (config.error()) {
        return tl::unexpected<Error>(*config.error());
    }
    if (auto status = checkLayerCount(layers, tensors, "config.json: num_hidden_layers"); !status) {
        return forward(status);
    }
    readSizes(config, architecture, layers, parameters);
    parameters.activation = readActivation(config, architecture);
    parameters.normEps = static_cast<float>(config.fractionOr(
        {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps"}, 1,
        architecture.norm == kernels::NormKind::kLayer ? 1e-5 : 1e-6));
    parameters.normOffset = architecture.hfNormOffset;
    parameters.window.assign(parameters.heads.size(), 0);
    parameters.hasRope.assign(parameters.heads.size(), true);
    parameters.keepsState.assign(parameters.heads.size(), false);
    parameters.hasMlp = architecture.hasMlp;
    readHfState(config, architecture, parameters);
    readPositionLayers(config, architecture, parameters);
    readWindows(config, architecture, parameters);
    applyRopeRule(architecture, readWindow(config, architecture), parameters);
    if (!architecture.hasPositionEmbedding) {
        readHfRope(config, architecture, parameters);
    }
    readScales(config, architecture, parameters);
    readHfLatent(config, architecture, parameters);
    readHfExperts(config, architecture, parameters);
    parameters.isHeadTied = config.boolean("tie_word_embeddings");
    if (!config.has({"tie_word_embeddings"}) && parameters.isHeadTied == false) {
        parameters.isHeadTied.reset();  // not said: tied where there is no head
    }
    const std::string positions = config.string({"position_embedding_type"});
    if (architecture.isBidirectional && !positions.empty() && positions != "absolute") {
        config.setError(ErrorCode::kUnsupported, "position_embedding_type is '" +
                                                     positions.substr(0, 64) +
                                                     "'; absolute positions are supported");
    }
    checkSwitches(config);
    checkQuantization(config);
    if (config.error()) {
        return tl::unexpected<Error>(*config.error());
    }
    return parameters;
}

}  // namespace quern::engine
