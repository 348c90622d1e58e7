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

// GGUF has the norm before the MLP under the name of one after attention.
constexpr std::array kSeedOssGgufNames{NameRule{"post_attention_norm", "ffn_norm"}};

constexpr std::array<Names, 1> kLlamaTypes{"llama"};
constexpr std::array<Names, 1> kMistralTypes{"mistral"};
constexpr std::array<Names, 1> kQwen2Types{"qwen2"};
constexpr std::array<Names, 1> kQwen3Types{"qwen3"};
constexpr std::array<Names, 1> kGemmaTypes{"gemma"};
constexpr std::array<Names, 1> kGemma2Types{"gemma2"};
constexpr std::array<Names, 2> kGemma3Types{"gemma3_text", "gemma3"};
constexpr std::array<Names, 1> kPhi3Types{"phi3"};
constexpr std::array<Names, 1> kPhiTypes{"phi"};
constexpr std::array<Names, 2> kOlmo2Types{"olmo2", "olmo3"};
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
constexpr std::array<Names, 1> kArceeTypes{"arcee"};
constexpr std::array<Names, 1> kSeedOssTypes{"seed_oss"};
constexpr std::array<Names, 1> kGpt2Types{"gpt2"};
constexpr std::array<Names, 1> kGptNeoXTypes{"gpt_neox"};
constexpr std::array<Names, 1> kFalconTypes{"falcon"};

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
                 .windows = Windows::kAll},
    Architecture{.gguf = "qwen2", .modelTypes = kQwen2Types, .windows = Windows::kFromLayer},
    Architecture{.gguf = "qwen3",
                 .modelTypes = kQwen3Types,
                 .qkNorm = QkNorm::kHeads,
                 .windows = Windows::kFromLayer},
    Architecture{.gguf = "gemma",
                 .modelTypes = kGemmaTypes,
                 .activation = Activation::kGeluTanh,
                 .meansTanhByGelu = true,
                 .hfNormOffset = 1.0F,
                 .scalesEmbedding = true},
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
                 .hfNames = kSandwichNames},
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
                 .hfNames = kSandwichNames},
    Architecture{.gguf = "phi3", .modelTypes = kPhi3Types, .windows = Windows::kAll},
    Architecture{.gguf = "phi2",
                 .modelTypes = kPhiTypes,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kGeluTanh,
                 .isGated = false,
                 .isParallel = true,
                 .qkNorm = QkNorm::kIfPresent},
    Architecture{.gguf = "olmo2",
                 .modelTypes = kOlmo2Types,
                 .attentionNorms = kPostOnly,
                 .mlpNorms = kPostOnly,
                 .qkNorm = QkNorm::kWholeRow,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 4,
                 .hasLocalTheta = true,
                 .localTheta = 0,
                 .hfNames = kSandwichNames},
    Architecture{.gguf = "smollm3",
                 .modelTypes = kSmolLm3Types,
                 .ggufRope = RopeLayout::kPairs,
                 .windows = Windows::kWithoutRope,
                 .noRopeInterval = 4},
    Architecture{.gguf = "granite",
                 .modelTypes = kGraniteTypes,
                 .ggufRope = RopeLayout::kPairs,
                 .dividesLogits = true},
    Architecture{.gguf = "stablelm",
                 .modelTypes = kStableLmTypes,
                 .norm = NormKind::kLayer,
                 .qkNorm = QkNorm::kIfPresent},
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
                 .ggufRope = RopeLayout::kPairs},
    Architecture{.gguf = "cohere2",
                 .modelTypes = kCohere2Types,
                 .norm = NormKind::kLayer,
                 .mlpNorms = kNeither,
                 .isParallel = true,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 4,
                 .ropesOnlyWindows = true},
    Architecture{.gguf = "glm4",
                 .modelTypes = kGlm4Types,
                 .attentionNorms = kBoth,
                 .mlpNorms = kBoth,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .hfNames = kGlm4Names},
    Architecture{.gguf = "nemotron",
                 .modelTypes = kNemotronTypes,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kRelu2,
                 .isGated = false,
                 .hfNormOffset = 1.0F},
    Architecture{.gguf = "exaone4",
                 .modelTypes = kExaone4Types,
                 .attentionNorms = kPostOnly,
                 .mlpNorms = kPostOnly,
                 .qkNorm = QkNorm::kHeads,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 4,
                 .ropesOnlyWindows = true,
                 .hfNames = kSandwichNames},
    Architecture{.gguf = "ernie4_5",
                 .modelTypes = kErnieTypes,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs},
    Architecture{.gguf = "arcee",
                 .modelTypes = kArceeTypes,
                 .activation = Activation::kRelu2,
                 .isGated = false,
                 .ggufRope = RopeLayout::kPairs},
    Architecture{.gguf = "seed_oss", .modelTypes = kSeedOssTypes, .ggufNames = kSeedOssGgufNames},
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
    Partial{"jina-bert-v2", kBiases, "bert"},    Partial{"mamba", kState, "mamba2"},
    Partial{"phimoe", kExperts, "phi3"},         Partial{"phi3moe", kExperts, "phi3"},
    Partial{"granitehybrid", kState, "granite"}, Partial{"falcon-h1", kState, "falcon"},
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
    return findArchitecture(
        [&](const Architecture& known) { return known.gguf == name && !known.isFolderOnly; });
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
