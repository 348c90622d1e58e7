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

// GGUF has the norm before the experts under the name of one after attention.
constexpr std::array kQwen3NextGgufNames{NameRule{"post_attention_norm", "ffn_norm"}};

constexpr std::array kQwen35Names{
    NameRule{"linear_attn.in_proj_qkv", "ssm_qkv"}, NameRule{"linear_attn.in_proj_z", "ssm_z"},
    NameRule{"linear_attn.in_proj_a", "ssm_alpha"}, NameRule{"linear_attn.in_proj_b", "ssm_beta"},
    NameRule{"linear_attn.conv1d", "ssm_conv1d"},   NameRule{"linear_attn.A_log", "ssm_a_log"},
    NameRule{"linear_attn.dt_bias", "ssm_dt_bias"}, NameRule{"linear_attn.norm", "ssm_norm"},
    NameRule{"linear_attn.out_proj", "ssm_out"}};

constexpr std::array<Names, 1> kLfm2Types{"lfm2"};
constexpr std::array<Names, 1> kLfm2MoeTypes{"lfm2_moe"};
constexpr std::array<Names, 4> kQwen35Types{"qwen3_5", "qwen3_5_text", "qwen3_5_moe",
                                            "qwen3_5_moe_text"};
constexpr std::array<Names, 1> kMamba2Types{"mamba2"};
constexpr std::array<Names, 1> kQwen3NextTypes{"qwen3_next"};

// Its dense layers are as wide as they say.
constexpr std::array kLfm2MoeDefaults{ConfigDefault{"block_auto_adjust_ff_dim", 0}};
// It has no attention: its heads and positions stand for none.
constexpr std::array kMamba2Defaults{ConfigDefault{"max_position_embeddings", 1048576},
                                     ConfigDefault{"num_attention_heads", 1}};

constexpr std::array kArchitectures{
    Architecture{.gguf = "lfm2",
                 .modelTypes = kLfm2Types,
                 .state = StateKind::kShortConv,
                 .qkNorm = QkNorm::kHeads,
                 .hfNames = kLfm2Names},
    Architecture{
        .gguf = "lfm2moe",
        .modelTypes = kLfm2MoeTypes,
        .state = StateKind::kShortConv,
        .qkNorm = QkNorm::kHeads,
        .experts = {.isAllowed = true, .gating = kernels::Gating::kSigmoid, .normalizes = true},
        .hfNames = kLfm2Names,
        .defaults = kLfm2MoeDefaults},
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
                 .ggufNames = kQwen3NextGgufNames},
    Architecture{.gguf = "qwen35",
                 .isFolderOnly = true,
                 .modelTypes = kQwen35Types,
                 .state = StateKind::kDeltaNet,
                 .hasOutputGate = true,
                 .qkNorm = QkNorm::kHeads,
                 .hfNormOffset = 1.0F,
                 .experts = {.isAllowed = true, .normalizes = true, .hfNormalizes = true},
                 .hfNames = kQwen35Names},
};

}  // namespace

std::span<const Architecture> stateArchitectures() {
    return kArchitectures;
}

}  // namespace quern::engine
