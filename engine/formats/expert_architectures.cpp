#include <array>

#include "engine/formats/architecture.h"

namespace quern::engine {

namespace {

using kernels::Gating;
using kernels::RopeLayout;
using Names = std::string_view;

constexpr std::array<Names, 1> kMixtralTypes{"mixtral"};
constexpr std::array<Names, 1> kQwen2MoeTypes{"qwen2_moe"};
constexpr std::array<Names, 1> kQwen3MoeTypes{"qwen3_moe"};
constexpr std::array<Names, 1> kGptOssTypes{"gpt_oss"};

constexpr std::array<Names, 2> kGraniteMoeTypes{"granitemoe", "granitemoeshared"};
constexpr std::array<Names, 1> kErnieMoeTypes{"ernie4_5_moe"};
constexpr std::array<Names, 1> kOlmoeTypes{"olmoe"};
constexpr std::array<Names, 1> kGlm4MoeTypes{"glm4_moe"};

// GGUF has the norm before the experts under the name of one after attention.
constexpr std::array kPostIsMlpNorm{NameRule{"post_attention_norm", "ffn_norm"}};
constexpr std::array kGraniteMoeNames{NameRule{"shared_mlp.input_linear", "ffn_gate_up_shexp"},
                                      NameRule{"shared_mlp.output_linear", "ffn_down_shexp"}};

constexpr std::array<Names, 1> kDeepSeekV2Types{"deepseek_v2"};
constexpr std::array<Names, 1> kDeepSeekV3Types{"deepseek_v3"};

constexpr std::array kLatentNames{NameRule{"self_attn.q_a_proj", "attn_q_a"},
                                  NameRule{"self_attn.q_a_layernorm", "attn_q_a_norm"},
                                  NameRule{"self_attn.q_b_proj", "attn_q_b"},
                                  NameRule{"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
                                  NameRule{"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
                                  NameRule{"self_attn.kv_b_proj", "attn_kv_b"}};

constexpr std::array kArchitectures{
    // Its GGUF files say llama.
    Architecture{.gguf = "llama",
                 .modelTypes = kMixtralTypes,
                 .ggufRope = RopeLayout::kPairs,
                 .windows = Windows::kAll,
                 .experts = {.isAllowed = true, .normalizes = true, .hfNormalizes = true}},
    Architecture{.gguf = "qwen2moe",
                 .modelTypes = kQwen2MoeTypes,
                 .windows = Windows::kOddBefore,
                 .experts = {.isAllowed = true}},
    Architecture{.gguf = "qwen3moe",
                 .modelTypes = kQwen3MoeTypes,
                 .qkNorm = QkNorm::kHeads,
                 .windows = Windows::kAll,
                 .experts = {.isAllowed = true, .normalizes = true}},
    Architecture{.gguf = "gpt-oss",
                 .modelTypes = kGptOssTypes,
                 .hasSinks = true,
                 .roundsYarn = false,
                 .windows = Windows::kAllButLast,
                 .windowPattern = 2,
                 .experts = {.isAllowed = true,
                             .gating = Gating::kSoftmaxOfChosen,
                             .gluLimit = 7.0F,
                             .isInterleaved = true},
                 .ggufNames = kPostIsMlpNorm},
    Architecture{.gguf = "granitemoe",
                 .modelTypes = kGraniteMoeTypes,
                 .ggufRope = RopeLayout::kPairs,
                 .dividesLogits = true,
                 .experts = {.isAllowed = true, .normalizes = true, .hfNormalizes = true},
                 .hfNames = kGraniteMoeNames},
    Architecture{.gguf = "ernie4_5-moe",
                 .modelTypes = kErnieMoeTypes,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .experts = {.isAllowed = true,
                             .normalizes = true,
                             .hfNormalizes = true,
                             .hasInterval = true}},
    Architecture{.gguf = "olmoe",
                 .modelTypes = kOlmoeTypes,
                 .qkNorm = QkNorm::kWholeRow,
                 .experts = {.isAllowed = true}},
    Architecture{.gguf = "glm4moe",
                 .modelTypes = kGlm4MoeTypes,
                 .qkNorm = QkNorm::kIfPresent,
                 .experts = {.isAllowed = true, .gating = Gating::kSigmoid, .normalizes = true},
                 .ggufNames = kPostIsMlpNorm},
    Architecture{.gguf = "deepseek2",
                 .modelTypes = kDeepSeekV2Types,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .isLatent = true,
                 .experts = {.isAllowed = true, .hfNormalizes = false},
                 .hfNames = kLatentNames},
    // Its GGUF files say deepseek2.
    Architecture{.gguf = "deepseek2",
                 .modelTypes = kDeepSeekV3Types,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .isLatent = true,
                 .experts = {.isAllowed = true, .gating = Gating::kSigmoid},
                 .hfNames = kLatentNames},
};

}  // namespace

std::span<const Architecture> expertArchitectures() {
    return kArchitectures;
}

}  // namespace quern::engine
