// Architectures whose layers, all or most of them, keep a state instead of keys and values.
#include <array>

#include "engine/formats/architecture.h"

namespace quern::engine {

namespace {

using Names = std::string_view;

constexpr std::array kLfm2Names{
    NameRule{"operator_norm", "attn_norm"},        NameRule{"ffn_norm", "ffn_norm"},
    NameRule{"self_attn.out_proj", "attn_output"}, NameRule{"feed_forward.w1", "ffn_gate"},
    NameRule{"feed_forward.w3", "ffn_up"},         NameRule{"feed_forward.w2", "ffn_down"},
    NameRule{"conv.in_proj", "shortconv_in"},      NameRule{"conv.conv", "shortconv_conv"},
    NameRule{"conv.out_proj", "shortconv_out"}};
constexpr std::array kMamba2Names{
    NameRule{"norm", "attn_norm"},          NameRule{"mixer.in_proj", "ssm_in"},
    NameRule{"mixer.conv1d", "ssm_conv1d"}, NameRule{"mixer.A_log", "ssm_a_log"},
    NameRule{"mixer.D", "ssm_d"},           NameRule{"mixer.dt_bias", "ssm_dt_bias"},
    NameRule{"mixer.norm", "ssm_norm"},     NameRule{"mixer.out_proj", "ssm_out"}};

constexpr std::array kQwen3NextNames{
    NameRule{"linear_attn.in_proj_qkvz", "ssm_in"}, NameRule{"linear_attn.in_proj_ba", "ssm_ba"},
    NameRule{"linear_attn.conv1d", "ssm_conv1d"},   NameRule{"linear_attn.A_log", "ssm_a_log"},
    NameRule{"linear_attn.dt_bias", "ssm_dt_bias"}, NameRule{"linear_attn.norm", "ssm_norm"},
    NameRule{"linear_attn.out_proj", "ssm_out"}};

constexpr std::array<Names, 1> kLfm2Types{"lfm2"};
constexpr std::array<Names, 1> kMamba2Types{"mamba2"};
constexpr std::array<Names, 1> kQwen3NextTypes{"qwen3_next"};

constexpr std::array kLfm2Defaults{
    ConfigDefault{"rope_theta", 1e6}, ConfigDefault{"norm_eps", 1e-5},
    ConfigDefault{"conv_L_cache", 3}, ConfigDefault{"max_position_embeddings", 128000}};
// It has no attention: its heads and positions stand for none.
constexpr std::array kMamba2Defaults{ConfigDefault{"max_position_embeddings", 1048576},
                                     ConfigDefault{"num_attention_heads", 1},
                                     ConfigDefault{"layer_norm_epsilon", 1e-5},
                                     ConfigDefault{"num_heads", 128},
                                     ConfigDefault{"head_dim", 64},
                                     ConfigDefault{"state_size", 128},
                                     ConfigDefault{"n_groups", 8},
                                     ConfigDefault{"conv_kernel", 4}};

constexpr std::array kQwen3NextDefaults{ConfigDefault{"head_dim", 256},
                                        ConfigDefault{"num_key_value_heads", 2},
                                        ConfigDefault{"partial_rotary_factor", 0.25},
                                        ConfigDefault{"linear_conv_kernel_dim", 4},
                                        ConfigDefault{"linear_num_key_heads", 16},
                                        ConfigDefault{"linear_num_value_heads", 32},
                                        ConfigDefault{"linear_key_head_dim", 128},
                                        ConfigDefault{"linear_value_head_dim", 128},
                                        ConfigDefault{"num_experts", 512},
                                        ConfigDefault{"num_experts_per_tok", 10},
                                        ConfigDefault{"moe_intermediate_size", 512},
                                        ConfigDefault{"shared_expert_intermediate_size", 512},
                                        ConfigDefault{"norm_topk_prob", 1}};

constexpr std::array kArchitectures{
    Architecture{.gguf = "lfm2",
                 .modelTypes = kLfm2Types,
                 .state = StateKind::kShortConv,
                 .qkNorm = QkNorm::kHeads,
                 .hfNames = kLfm2Names,
                 .defaults = kLfm2Defaults},
    Architecture{.gguf = "mamba2",
                 .modelTypes = kMamba2Types,
                 .hasMlp = false,
                 .state = StateKind::kMamba2,
                 .hfNames = kMamba2Names,
                 .defaults = kMamba2Defaults},
    Architecture{.gguf = "qwen3next",
                 .modelTypes = kQwen3NextTypes,
                 .state = StateKind::kDeltaNet,
                 .hasOutputGate = true,
                 .qkNorm = QkNorm::kHeads,
                 .hfNormOffset = 1.0F,
                 .experts = {.isAllowed = true, .normalizes = true},
                 .hfNames = kQwen3NextNames,
                 .defaults = kQwen3NextDefaults},
};

}  // namespace

std::span<const Architecture> stateArchitectures() {
    return kArchitectures;
}

}  // namespace quern::engine
