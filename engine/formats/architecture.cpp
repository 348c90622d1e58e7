#include "engine/formats/architecture.h"

#include <algorithm>
#include <array>

namespace quern::engine {

namespace {

using kernels::Activation;
using kernels::NormKind;
using kernels::RopeLayout;
using Names = std::string_view;

constexpr BlockNorms kPostOnly{.hasPre = false, .hasPost = true};
constexpr BlockNorms kBoth{.hasPre = true, .hasPost = true};
constexpr BlockNorms kNeither{.hasPre = false, .hasPost = false};

// Norms after the blocks as well as before (Gemma 2 and 3) …
constexpr std::array kSandwichNames{NameRule{"post_attention_layernorm", "post_attention_norm"},
                                    NameRule{"pre_feedforward_layernorm", "ffn_norm"},
                                    NameRule{"post_feedforward_layernorm", "post_ffw_norm"}};
constexpr std::array kGlm4Names{NameRule{"post_self_attn_layernorm", "post_attention_norm"},
                                NameRule{"post_mlp_layernorm", "post_ffw_norm"}};
constexpr std::array kGpt2Names{NameRule{"mlp.c_proj", "ffn_down"},
                                NameRule{"attn.c_proj", "attn_output"}};
constexpr std::array kFalconNames{NameRule{"ln_mlp", "ffn_norm"}};
// … GGUF keeps Falcon's norm of the MLP under attn_norm where there are two.
constexpr std::array kFalconGgufNames{NameRule{"attn_norm", "ffn_norm"},
                                      NameRule{"attn_norm_2", "attn_norm"}};

constexpr std::array<Names, 1> kLlamaTypes{"llama"};
constexpr std::array<Names, 1> kMistralTypes{"mistral"};
constexpr std::array<Names, 1> kQwen2Types{"qwen2"};
constexpr std::array<Names, 1> kQwen3Types{"qwen3"};
constexpr std::array<Names, 1> kGemmaTypes{"gemma"};
constexpr std::array<Names, 1> kGemma2Types{"gemma2"};
constexpr std::array<Names, 2> kGemma3Types{"gemma3_text", "gemma3"};
constexpr std::array<Names, 1> kPhi3Types{"phi3"};
constexpr std::array<Names, 1> kPhiTypes{"phi"};
constexpr std::array<Names, 1> kOlmo2Types{"olmo2"};
constexpr std::array<Names, 1> kSmolLm3Types{"smollm3"};
constexpr std::array<Names, 1> kGraniteTypes{"granite"};
constexpr std::array<Names, 1> kStableLmTypes{"stablelm"};
constexpr std::array<Names, 1> kStarcoder2Types{"starcoder2"};
constexpr std::array<Names, 1> kCohereTypes{"cohere"};
constexpr std::array<Names, 1> kCohere2Types{"cohere2"};
constexpr std::array<Names, 1> kGlm4Types{"glm4"};
constexpr std::array<Names, 1> kNemotronTypes{"nemotron"};
constexpr std::array<Names, 1> kExaone4Types{"exaone4"};
constexpr std::array<Names, 1> kErnieTypes{"ernie4_5"};
constexpr std::array<Names, 1> kGpt2Types{"gpt2"};
constexpr std::array<Names, 1> kGptNeoXTypes{"gpt_neox"};
constexpr std::array<Names, 1> kFalconTypes{"falcon"};

constexpr std::array kMistralDefaults{ConfigDefault{"sliding_window", 4096}};
constexpr std::array kGemmaDefaults{ConfigDefault{"head_dim", 256}};
constexpr std::array kGemma2Defaults{ConfigDefault{"head_dim", 256},
                                     ConfigDefault{"num_key_value_heads", 4},
                                     ConfigDefault{"sliding_window", 4096},
                                     ConfigDefault{"query_pre_attn_scalar", 256},
                                     ConfigDefault{"attn_logit_softcapping", 50},
                                     ConfigDefault{"final_logit_softcapping", 30}};
constexpr std::array kGemma3Defaults{ConfigDefault{"head_dim", 256},
                                     ConfigDefault{"num_attention_heads", 8},
                                     ConfigDefault{"num_key_value_heads", 4},
                                     ConfigDefault{"sliding_window", 4096},
                                     ConfigDefault{"rope_theta", 1e6},
                                     ConfigDefault{"rope_local_base_freq", 1e4},
                                     ConfigDefault{"vocab_size", 262208},
                                     ConfigDefault{"query_pre_attn_scalar", 256},
                                     ConfigDefault{"max_position_embeddings", 131072}};
constexpr std::array kSmolLm3Defaults{ConfigDefault{"rope_theta", 2e6}};
constexpr std::array kOlmo2Defaults{ConfigDefault{"rms_norm_eps", 1e-5}};
constexpr std::array kGraniteDefaults{ConfigDefault{"attention_multiplier", 1}};
constexpr std::array kStableLmDefaults{ConfigDefault{"partial_rotary_factor", 0.25}};
constexpr std::array kHalfRotary{ConfigDefault{"partial_rotary_factor", 0.5}};
constexpr std::array kCohereDefaults{ConfigDefault{"logit_scale", 0.0625}};
constexpr std::array kCohere2Defaults{ConfigDefault{"logit_scale", 0.0625},
                                      ConfigDefault{"sliding_window", 4096}};
constexpr std::array kGlm4Defaults{ConfigDefault{"partial_rotary_factor", 0.5},
                                   ConfigDefault{"rms_norm_eps", 1.5625e-07}};
constexpr std::array kExaone4Defaults{ConfigDefault{"rms_norm_eps", 1e-5}};
constexpr std::array kErnieDefaults{ConfigDefault{"rms_norm_eps", 1e-5},
                                    ConfigDefault{"rope_theta", 5e5}};
constexpr std::array kGptNeoXDefaults{ConfigDefault{"partial_rotary_factor", 0.25}};

constexpr std::array kArchitectures{
    Architecture{.gguf = "llama",
                 .modelTypes = kLlamaTypes,
                 .ggufRope = RopeLayout::kPairs,
                 .windows = Windows::kAll,
                 .experts = {.isAllowed = true, .normalizes = true}},
    // Llama with a window; its GGUF files say llama.
    Architecture{.gguf = "llama",
                 .modelTypes = kMistralTypes,
                 .ggufRope = RopeLayout::kPairs,
                 .windows = Windows::kAll,
                 .defaults = kMistralDefaults},
    Architecture{.gguf = "qwen2", .modelTypes = kQwen2Types},
    Architecture{.gguf = "qwen3", .modelTypes = kQwen3Types, .qkNorm = QkNorm::kHeads},
    Architecture{.gguf = "gemma",
                 .modelTypes = kGemmaTypes,
                 .activation = Activation::kGeluTanh,
                 .hfNormOffset = 1.0F,
                 .scalesEmbedding = true,
                 .defaults = kGemmaDefaults},
    Architecture{.gguf = "gemma2",
                 .modelTypes = kGemma2Types,
                 .activation = Activation::kGeluTanh,
                 .attentionNorms = kBoth,
                 .mlpNorms = kBoth,
                 .hfNormOffset = 1.0F,
                 .scalesEmbedding = true,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 2,
                 .scaleByHiddenLayers = 46,
                 .hfNames = kSandwichNames,
                 .defaults = kGemma2Defaults},
    Architecture{.gguf = "gemma3",
                 .modelTypes = kGemma3Types,
                 .activation = Activation::kGeluTanh,
                 .attentionNorms = kBoth,
                 .mlpNorms = kBoth,
                 .qkNorm = QkNorm::kHeads,
                 .hfNormOffset = 1.0F,
                 .scalesEmbedding = true,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 6,
                 .hasLocalTheta = true,
                 .scaleByHiddenLayers = 62,
                 .hfNames = kSandwichNames,
                 .defaults = kGemma3Defaults},
    Architecture{.gguf = "phi3", .modelTypes = kPhi3Types, .windows = Windows::kAll},
    Architecture{.gguf = "phi2",
                 .modelTypes = kPhiTypes,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kGeluTanh,
                 .isGated = false,
                 .isParallel = true,
                 .qkNorm = QkNorm::kIfPresent,
                 .defaults = kHalfRotary},
    Architecture{.gguf = "olmo2",
                 .modelTypes = kOlmo2Types,
                 .attentionNorms = kPostOnly,
                 .mlpNorms = kPostOnly,
                 .qkNorm = QkNorm::kWholeRow,
                 .hfNames = kSandwichNames,
                 .defaults = kOlmo2Defaults},
    Architecture{.gguf = "smollm3",
                 .modelTypes = kSmolLm3Types,
                 .ggufRope = RopeLayout::kPairs,
                 .noRopeInterval = 4,
                 .defaults = kSmolLm3Defaults},
    Architecture{.gguf = "granite",
                 .modelTypes = kGraniteTypes,
                 .ggufRope = RopeLayout::kPairs,
                 .dividesLogits = true,
                 .defaults = kGraniteDefaults},
    Architecture{.gguf = "stablelm",
                 .modelTypes = kStableLmTypes,
                 .norm = NormKind::kLayer,
                 .qkNorm = QkNorm::kIfPresent,
                 .defaults = kStableLmDefaults},
    Architecture{.gguf = "starcoder2",
                 .modelTypes = kStarcoder2Types,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kGeluTanh,
                 .isGated = false,
                 .windows = Windows::kAll},
    Architecture{.gguf = "command-r",
                 .modelTypes = kCohereTypes,
                 .norm = NormKind::kLayer,
                 .mlpNorms = kNeither,
                 .isParallel = true,
                 .qkNorm = QkNorm::kIfPresent,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .defaults = kCohereDefaults},
    Architecture{.gguf = "cohere2",
                 .modelTypes = kCohere2Types,
                 .norm = NormKind::kLayer,
                 .mlpNorms = kNeither,
                 .isParallel = true,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 4,
                 .ropesOnlyWindows = true,
                 .defaults = kCohere2Defaults},
    Architecture{.gguf = "glm4",
                 .modelTypes = kGlm4Types,
                 .attentionNorms = kBoth,
                 .mlpNorms = kBoth,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .hfNames = kGlm4Names,
                 .defaults = kGlm4Defaults},
    Architecture{.gguf = "nemotron",
                 .modelTypes = kNemotronTypes,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kRelu2,
                 .isGated = false,
                 .hfNormOffset = 1.0F,
                 .defaults = kHalfRotary},
    Architecture{.gguf = "exaone4",
                 .modelTypes = kExaone4Types,
                 .attentionNorms = kPostOnly,
                 .mlpNorms = kPostOnly,
                 .qkNorm = QkNorm::kHeads,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 4,
                 .ropesOnlyWindows = true,
                 .hfNames = kSandwichNames,
                 .defaults = kExaone4Defaults},
    Architecture{.gguf = "ernie4_5",
                 .modelTypes = kErnieTypes,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .defaults = kErnieDefaults},
    Architecture{.gguf = "gpt2",
                 .modelTypes = kGpt2Types,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kGeluTanh,
                 .isGated = false,
                 .hasPositionEmbedding = true,
                 .hfNames = kGpt2Names,
                 .isTransposed = true},
    Architecture{.gguf = "gptneox",
                 .modelTypes = kGptNeoXTypes,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kGelu,
                 .isGated = false,
                 .isParallel = true,
                 .defaults = kGptNeoXDefaults,
                 .fusedQkv = FusedQkv::kHeads},
    Architecture{.gguf = "falcon",
                 .modelTypes = kFalconTypes,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kGelu,
                 .isGated = false,
                 .isParallel = true,
                 .hfNames = kFalconNames,
                 .ggufNames = kFalconGgufNames,
                 .fusedQkv = FusedQkv::kKvGroups},
};

// Architectures of which only a part is here.
struct Partial {
    std::string_view name;
    std::string_view missing;
    std::string_view nearest;
};

constexpr std::string_view kExperts = "mixture-of-experts layers";
constexpr std::string_view kBiases = "positions as biases of attention (ALiBi)";
constexpr std::string_view kState = "layers that keep a state instead of a cache";

constexpr std::array kPartial{
    Partial{"granitemoe", kExperts, "granite"},
    Partial{"ernie4_5-moe", kExperts, "ernie4_5"},
    Partial{"ernie4_5_moe", kExperts, "ernie4_5"},
    Partial{"jina-bert-v2", kBiases, "bert"},
    Partial{"mamba", kState, "mamba2"},
    Partial{"lfm2moe", kExperts, "lfm2"},
    Partial{"lfm2_moe", kExperts, "lfm2"},
    Partial{"granitehybrid", kState, "granite"},
    Partial{"falcon-h1", kState, "falcon"},
};

// The known architecture whose name begins most alike.
std::string_view nearestName(std::string_view name) {
    std::string_view nearest = "llama";
    std::size_t longest = 2;  // two letters in common say nothing
    for (const Architecture& architecture : kArchitectures) {
        const auto [end, ignored] = std::mismatch(
            name.begin(), name.end(), architecture.gguf.begin(), architecture.gguf.end());
        const auto common = static_cast<std::size_t>(end - name.begin());
        if (common > longest) {
            longest = common;
            nearest = architecture.gguf;
        }
    }
    return nearest;
}

template <class Matches>
const Architecture* findArchitecture(Matches matches) {
    for (const std::span<const Architecture> some :
         {std::span<const Architecture>(kArchitectures), expertArchitectures(),
          stateArchitectures(), encoderArchitectures()}) {
        const auto found = std::find_if(some.begin(), some.end(), matches);
        if (found != some.end()) {
            return &*found;
        }
    }
    return nullptr;
}

}  // namespace

const Architecture* architectureOfGguf(std::string_view name) {
    return findArchitecture([&](const Architecture& known) { return known.gguf == name; });
}

const Architecture* architectureOfModelType(std::string_view modelType) {
    return findArchitecture([&](const Architecture& known) {
        return std::find(known.modelTypes.begin(), known.modelTypes.end(), modelType) !=
               known.modelTypes.end();
    });
}

std::string whyUnknown(std::string_view name) {
    std::string shown;
    for (const char c : name.substr(0, 64)) {
        shown += c >= ' ' && c <= '~' ? c : '?';
    }
    const auto* partial = std::find_if(kPartial.begin(), kPartial.end(),
                                       [&](const Partial& known) { return known.name == name; });
    if (partial != kPartial.end()) {
        return "architecture '" + shown + "' is not supported yet: missing are " +
               std::string(partial->missing) + "; the nearest that is supported is '" +
               std::string(partial->nearest) + "'";
    }
    return "architecture '" + shown +
           "' is not known: a description of its layers is missing; "
           "the nearest name that is supported is '" +
           std::string(nearestName(name)) + "'";
}

}  // namespace quern::engine
