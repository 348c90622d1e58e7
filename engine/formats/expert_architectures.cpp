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

// GGUF has the norm before the experts under the name of one after attention.
constexpr std::array kGptOssGgufNames{NameRule{"post_attention_norm", "ffn_norm"}};

constexpr std::array<Names, 1> kDeepSeekV2Types{"deepseek_v2"};
constexpr std::array<Names, 1> kDeepSeekV3Types{"deepseek_v3"};

constexpr std::array kLatentNames{NameRule{"self_attn.q_a_proj", "attn_q_a"},
                                  NameRule{"self_attn.q_a_layernorm", "attn_q_a_norm"},
                                  NameRule{"self_attn.q_b_proj", "attn_q_b"},
                                  NameRule{"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
                                  NameRule{"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
                                  NameRule{"self_attn.kv_b_proj", "attn_kv_b"}};

constexpr std::array kMixtralDefaults{
    ConfigDefault{"num_local_experts", 8}, ConfigDefault{"num_experts_per_tok", 2},
    ConfigDefault{"norm_topk_prob", 1}, ConfigDefault{"rms_norm_eps", 1e-5},
    ConfigDefault{"rope_theta", 1e6}};
constexpr std::array kQwen2MoeDefaults{ConfigDefault{"num_experts", 60},
                                       ConfigDefault{"num_experts_per_tok", 4},
                                       ConfigDefault{"moe_intermediate_size", 1408},
                                       ConfigDefault{"shared_expert_intermediate_size", 5632}};
constexpr std::array kQwen3MoeDefaults{
    ConfigDefault{"num_local_experts", 128}, ConfigDefault{"num_experts", 128},
    ConfigDefault{"num_experts_per_tok", 8}, ConfigDefault{"moe_intermediate_size", 768}};

constexpr std::array kGptOssDefaults{
    ConfigDefault{"num_local_experts", 128}, ConfigDefault{"num_experts_per_tok", 4},
    ConfigDefault{"head_dim", 64},           ConfigDefault{"sliding_window", 128},
    ConfigDefault{"rms_norm_eps", 1e-5},     ConfigDefault{"rope_theta", 150000},
    ConfigDefault{"swiglu_limit", 7}};

constexpr std::array kDeepSeekV2Defaults{
    ConfigDefault{"n_routed_experts", 64},  ConfigDefault{"n_shared_experts", 2},
    ConfigDefault{"kv_lora_rank", 512},     ConfigDefault{"q_lora_rank", 1536},
    ConfigDefault{"qk_nope_head_dim", 128}, ConfigDefault{"qk_rope_head_dim", 64},
    ConfigDefault{"v_head_dim", 128},       ConfigDefault{"moe_intermediate_size", 1407}};
constexpr std::array kDeepSeekV3Defaults{ConfigDefault{"n_routed_experts", 256},
                                         ConfigDefault{"n_shared_experts", 1},
                                         ConfigDefault{"num_experts_per_tok", 8},
                                         ConfigDefault{"first_k_dense_replace", 3},
                                         ConfigDefault{"kv_lora_rank", 512},
                                         ConfigDefault{"q_lora_rank", 1536},
                                         ConfigDefault{"qk_nope_head_dim", 128},
                                         ConfigDefault{"qk_rope_head_dim", 64},
                                         ConfigDefault{"v_head_dim", 128},
                                         ConfigDefault{"moe_intermediate_size", 2048},
                                         ConfigDefault{"norm_topk_prob", 1},
                                         ConfigDefault{"routed_scaling_factor", 2.5},
                                         ConfigDefault{"n_group", 8},
                                         ConfigDefault{"topk_group", 4}};

constexpr std::array kArchitectures{
    // Its GGUF files say llama.
    Architecture{.gguf = "llama",
                 .modelTypes = kMixtralTypes,
                 .ggufRope = RopeLayout::kPairs,
                 .windows = Windows::kAll,
                 .experts = {.isAllowed = true, .normalizes = true},
                 .defaults = kMixtralDefaults},
    Architecture{.gguf = "qwen2moe",
                 .modelTypes = kQwen2MoeTypes,
                 .experts = {.isAllowed = true},
                 .defaults = kQwen2MoeDefaults},
    Architecture{.gguf = "qwen3moe",
                 .modelTypes = kQwen3MoeTypes,
                 .qkNorm = QkNorm::kHeads,
                 .experts = {.isAllowed = true, .normalizes = true},
                 .defaults = kQwen3MoeDefaults},
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
                 .ggufNames = kGptOssGgufNames,
                 .defaults = kGptOssDefaults},
    Architecture{.gguf = "deepseek2",
                 .modelTypes = kDeepSeekV2Types,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .isLatent = true,
                 .experts = {.isAllowed = true},
                 .hfNames = kLatentNames,
                 .defaults = kDeepSeekV2Defaults},
    // Its GGUF files say deepseek2.
    Architecture{.gguf = "deepseek2",
                 .modelTypes = kDeepSeekV3Types,
                 .hfRope = RopeLayout::kPairs,
                 .ggufRope = RopeLayout::kPairs,
                 .isLatent = true,
                 .experts = {.isAllowed = true, .gating = Gating::kSigmoid},
                 .hfNames = kLatentNames,
                 .defaults = kDeepSeekV3Defaults},
};

}  // namespace

std::span<const Architecture> expertArchitectures() {
    return kArchitectures;
}

}  // namespace quern::engine
