// Written by tests/reference/class_defaults.py from transformers 5.24.0.
#include "engine/formats/class_defaults.h"

#include <algorithm>
#include <array>

namespace quern::engine {

namespace {

struct ClassDefaults {
    std::string_view modelType;
    std::string_view values;  // key=value, a space between each two
};

constexpr std::array kClasses{
    ClassDefaults{"llama", "rms_norm_eps=1e-06 hidden_act=silu tie_word_embeddings=false"},
    ClassDefaults{"mistral",
                  "num_key_value_heads=8 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false sliding_window=4096"},
    ClassDefaults{"mixtral",
                  "num_key_value_heads=8 rms_norm_eps=1e-05 hidden_act=silu "
                  "tie_word_embeddings=false num_local_experts=8 num_experts_per_tok=2 "
                  "rope_theta=1000000.0"},
    ClassDefaults{"qwen2",
                  "num_key_value_heads=32 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false sliding_window=4096 use_sliding_window=false "
                  "max_window_layers=28"},
    ClassDefaults{"qwen3",
                  "num_key_value_heads=32 head_dim=128 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false sliding_window=4096 use_sliding_window=false "
                  "max_window_layers=28"},
    ClassDefaults{"gemma",
                  "num_key_value_heads=16 head_dim=256 pad_token_id=0 rms_norm_eps=1e-06 "
                  "hidden_act=gelu_pytorch_tanh tie_word_embeddings=true"},
    ClassDefaults{"gemma2",
                  "num_key_value_heads=4 head_dim=256 pad_token_id=0 rms_norm_eps=1e-06 "
                  "hidden_activation=gelu_pytorch_tanh tie_word_embeddings=true "
                  "sliding_window=4096 query_pre_attn_scalar=256 attn_logit_softcapping=50.0 "
                  "final_logit_softcapping=30.0"},
    ClassDefaults{"gemma3_text",
                  "vocab_size=262208 hidden_size=2304 num_hidden_layers=26 num_attention_heads=8 "
                  "num_key_value_heads=4 head_dim=256 intermediate_size=9216 "
                  "max_position_embeddings=131072 pad_token_id=0 rms_norm_eps=1e-06 "
                  "hidden_activation=gelu_pytorch_tanh tie_word_embeddings=true "
                  "sliding_window=4096 query_pre_attn_scalar=256 rope_theta=1000000.0 "
                  "rope_local_base_freq=10000.0"},
    ClassDefaults{"phi",
                  "layer_norm_eps=1e-05 hidden_act=gelu_new tie_word_embeddings=false "
                  "partial_rotary_factor=0.5"},
    ClassDefaults{"phi3",
                  "original_max_position_embeddings=4096 pad_token_id=32000 rms_norm_eps=1e-05 "
                  "hidden_act=silu tie_word_embeddings=false"},
    ClassDefaults{"olmo2",
                  "pad_token_id=1 rms_norm_eps=1e-05 hidden_act=silu tie_word_embeddings=false"},
    ClassDefaults{"smollm3",
                  "num_key_value_heads=4 pad_token_id=128004 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=true use_sliding_window=false no_rope_layer_interval=4 "
                  "rope_theta=2000000.0"},
    ClassDefaults{"granite",
                  "rms_norm_eps=1e-06 hidden_act=silu tie_word_embeddings=false "
                  "attention_multiplier=1.0 embedding_multiplier=1.0 residual_multiplier=1.0 "
                  "logits_scaling=1.0"},
    ClassDefaults{"stablelm",
                  "num_key_value_heads=32 layer_norm_eps=1e-05 hidden_act=silu "
                  "tie_word_embeddings=false use_parallel_residual=false "
                  "partial_rotary_factor=0.25"},
    ClassDefaults{"starcoder2",
                  "num_key_value_heads=2 norm_epsilon=1e-05 hidden_act=gelu_pytorch_tanh "
                  "tie_word_embeddings=true"},
    ClassDefaults{"cohere",
                  "pad_token_id=0 layer_norm_eps=1e-05 hidden_act=silu tie_word_embeddings=true "
                  "logit_scale=0.0625 rope_theta=500000.0"},
    ClassDefaults{"cohere2",
                  "pad_token_id=0 layer_norm_eps=1e-05 hidden_act=silu tie_word_embeddings=true "
                  "sliding_window=4096 logit_scale=0.0625"},
    ClassDefaults{"glm4",
                  "num_key_value_heads=2 head_dim=128 pad_token_id=151329 rms_norm_eps=1.5625e-07 "
                  "hidden_act=silu tie_word_embeddings=false partial_rotary_factor=0.5"},
    ClassDefaults{"nemotron",
                  "norm_eps=1e-05 hidden_act=relu2 tie_word_embeddings=false "
                  "partial_rotary_factor=0.5"},
    ClassDefaults{"exaone4",
                  "num_key_value_heads=32 rms_norm_eps=1e-05 hidden_act=silu "
                  "tie_word_embeddings=false sliding_window=4096 sliding_window_pattern=4"},
    ClassDefaults{"ernie4_5",
                  "num_key_value_heads=2 head_dim=128 pad_token_id=0 rms_norm_eps=1e-05 "
                  "hidden_act=silu tie_word_embeddings=true rope_theta=500000.0"},
    ClassDefaults{"gpt2",
                  "layer_norm_epsilon=1e-05 activation_function=gelu_new tie_word_embeddings=true "
                  "scale_attn_weights=true"},
    ClassDefaults{"gpt_neox",
                  "layer_norm_eps=1e-05 hidden_act=gelu tie_word_embeddings=false "
                  "use_parallel_residual=true partial_rotary_factor=0.25"},
    ClassDefaults{"falcon",
                  "layer_norm_epsilon=1e-05 activation=gelu tie_word_embeddings=true "
                  "new_decoder_architecture=false multi_query=true parallel_attn=true alibi=false"},
    ClassDefaults{"qwen2_moe",
                  "num_key_value_heads=16 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false sliding_window=4096 use_sliding_window=false "
                  "max_window_layers=28 num_experts=60 num_experts_per_tok=4 "
                  "moe_intermediate_size=1408 norm_topk_prob=false "
                  "shared_expert_intermediate_size=5632 decoder_sparse_step=1"},
    ClassDefaults{"qwen3_moe",
                  "num_key_value_heads=4 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false sliding_window=4096 use_sliding_window=false "
                  "num_experts=128 num_experts_per_tok=8 moe_intermediate_size=768 "
                  "norm_topk_prob=false decoder_sparse_step=1"},
    ClassDefaults{
        "gpt_oss",
        "num_key_value_heads=8 head_dim=64 rms_norm_eps=1e-05 hidden_act=silu "
        "tie_word_embeddings=false sliding_window=128 num_local_experts=128 "
        "num_experts_per_tok=4 swiglu_limit=7.0 swiglu_alpha=1.702 rope_theta=150000.0 "
        "rope_parameters={\"rope_type\":\"yarn\",\"factor\":32.0,\"beta_fast\":32.0,\"beta_slow\":"
        "1.0,\"truncate\":false,\"original_max_position_embeddings\":4096}"},
    ClassDefaults{"deepseek_v2",
                  "rms_norm_eps=1e-06 hidden_act=silu tie_word_embeddings=false "
                  "n_routed_experts=64 moe_intermediate_size=1407 norm_topk_prob=false "
                  "routed_scaling_factor=1.0 topk_method=greedy n_shared_experts=2 "
                  "first_k_dense_replace=0 kv_lora_rank=512 q_lora_rank=1536 qk_nope_head_dim=128 "
                  "qk_rope_head_dim=64 v_head_dim=128"},
    ClassDefaults{"deepseek_v3",
                  "num_key_value_heads=128 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false n_routed_experts=256 num_experts_per_tok=8 "
                  "moe_intermediate_size=2048 norm_topk_prob=true routed_scaling_factor=2.5 "
                  "n_group=8 topk_group=4 n_shared_experts=1 first_k_dense_replace=3 "
                  "kv_lora_rank=512 q_lora_rank=1536 qk_nope_head_dim=128 qk_rope_head_dim=64 "
                  "v_head_dim=128 rope_interleave=true"},
    ClassDefaults{"lfm2",
                  "num_key_value_heads=8 max_position_embeddings=128000 pad_token_id=0 "
                  "norm_eps=1e-05 tie_word_embeddings=true conv_L_cache=3 block_multiple_of=256 "
                  "block_ffn_dim_multiplier=1.0 block_auto_adjust_ff_dim=true "
                  "rope_theta=1000000.0"},
    ClassDefaults{"mamba2",
                  "head_dim=64 pad_token_id=1 layer_norm_epsilon=1e-05 hidden_act=silu "
                  "tie_word_embeddings=false conv_kernel=4 num_heads=128 state_size=128 "
                  "n_groups=8"},
    ClassDefaults{"qwen3_next",
                  "num_key_value_heads=2 head_dim=256 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false num_experts=512 num_experts_per_tok=10 "
                  "moe_intermediate_size=512 norm_topk_prob=true "
                  "shared_expert_intermediate_size=512 decoder_sparse_step=1 "
                  "linear_conv_kernel_dim=4 linear_num_key_heads=16 linear_num_value_heads=32 "
                  "linear_key_head_dim=128 linear_value_head_dim=128 partial_rotary_factor=0.25"},
    ClassDefaults{"bert",
                  "pad_token_id=0 layer_norm_eps=1e-12 hidden_act=gelu tie_word_embeddings=true"},
    ClassDefaults{"xlm-roberta",
                  "pad_token_id=1 layer_norm_eps=1e-12 hidden_act=gelu tie_word_embeddings=true"},
    ClassDefaults{"roberta",
                  "pad_token_id=1 layer_norm_eps=1e-12 hidden_act=gelu tie_word_embeddings=true"},
    ClassDefaults{"camembert",
                  "pad_token_id=1 layer_norm_eps=1e-12 hidden_act=gelu tie_word_embeddings=true"},
    ClassDefaults{"modernbert",
                  "pad_token_id=50283 norm_eps=1e-05 hidden_activation=gelu "
                  "tie_word_embeddings=true local_attention=128 global_rope_theta=160000.0 "
                  "local_rope_theta=10000.0"},
    ClassDefaults{"granitemoe",
                  "rms_norm_eps=1e-06 hidden_act=silu tie_word_embeddings=false "
                  "attention_multiplier=1.0 embedding_multiplier=1.0 residual_multiplier=1.0 "
                  "logits_scaling=1.0 num_local_experts=8 num_experts_per_tok=2"},
    ClassDefaults{"granitemoeshared",
                  "rms_norm_eps=1e-06 hidden_act=silu tie_word_embeddings=false "
                  "attention_multiplier=1.0 embedding_multiplier=1.0 residual_multiplier=1.0 "
                  "logits_scaling=1.0 num_local_experts=8 num_experts_per_tok=2 "
                  "shared_intermediate_size=0"},
    ClassDefaults{"ernie4_5_moe",
                  "num_key_value_heads=4 pad_token_id=0 rms_norm_eps=1e-05 hidden_act=silu "
                  "tie_word_embeddings=true moe_num_experts=64 moe_k=6 moe_intermediate_size=1536 "
                  "moe_num_shared_experts=2 moe_layer_start_index=1 moe_layer_end_index=-1 "
                  "moe_layer_interval=1 rope_theta=500000.0"},
    ClassDefaults{"lfm2_moe",
                  "num_key_value_heads=8 max_position_embeddings=128000 pad_token_id=0 "
                  "norm_eps=1e-05 tie_word_embeddings=true num_experts=32 num_experts_per_tok=4 "
                  "moe_intermediate_size=1792 norm_topk_prob=true routed_scaling_factor=1.0 "
                  "num_dense_layers=2 conv_L_cache=3 rope_theta=1000000.0"},
    ClassDefaults{"olmoe",
                  "pad_token_id=1 rms_norm_eps=1e-05 hidden_act=silu tie_word_embeddings=false "
                  "num_experts=64 num_experts_per_tok=8 norm_topk_prob=false"},
    ClassDefaults{"glm4_moe",
                  "num_key_value_heads=8 rms_norm_eps=1e-05 hidden_act=silu "
                  "tie_word_embeddings=false n_routed_experts=128 num_experts_per_tok=8 "
                  "moe_intermediate_size=1408 norm_topk_prob=true routed_scaling_factor=1.0 "
                  "n_group=1 topk_group=1 n_shared_experts=1 first_k_dense_replace=1 "
                  "partial_rotary_factor=0.5"},
    ClassDefaults{"arcee", "rms_norm_eps=1e-05 hidden_act=relu2 tie_word_embeddings=false"},
    ClassDefaults{"seed_oss",
                  "num_key_value_heads=8 head_dim=128 pad_token_id=1 rms_norm_eps=1e-06 "
                  "hidden_act=silu tie_word_embeddings=false"},
    ClassDefaults{"olmo3",
                  "pad_token_id=1 rms_norm_eps=1e-05 hidden_act=silu tie_word_embeddings=false "
                  "sliding_window=4096 rope_theta=500000.0"},
    ClassDefaults{"qwen3_5_text",
                  "vocab_size=248320 hidden_size=4096 num_hidden_layers=32 num_attention_heads=16 "
                  "num_key_value_heads=4 head_dim=256 intermediate_size=12288 "
                  "max_position_embeddings=32768 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false linear_conv_kernel_dim=4 linear_num_key_heads=16 "
                  "linear_num_value_heads=32 linear_key_head_dim=128 linear_value_head_dim=128 "
                  "partial_rotary_factor=0.25"},
    ClassDefaults{"qwen3_5_moe_text",
                  "vocab_size=248320 hidden_size=2048 num_hidden_layers=40 num_attention_heads=16 "
                  "num_key_value_heads=2 head_dim=256 max_position_embeddings=32768 "
                  "rms_norm_eps=1e-06 hidden_act=silu tie_word_embeddings=false num_experts=256 "
                  "num_experts_per_tok=8 moe_intermediate_size=512 "
                  "shared_expert_intermediate_size=512 linear_conv_kernel_dim=4 "
                  "linear_num_key_heads=16 linear_num_value_heads=32 linear_key_head_dim=128 "
                  "linear_value_head_dim=128 partial_rotary_factor=0.25"},
    ClassDefaults{"gemma3",
                  "vocab_size=262208 hidden_size=2304 num_hidden_layers=26 num_attention_heads=8 "
                  "num_key_value_heads=4 head_dim=256 intermediate_size=9216 "
                  "max_position_embeddings=131072 pad_token_id=0 rms_norm_eps=1e-06 "
                  "hidden_activation=gelu_pytorch_tanh tie_word_embeddings=true "
                  "sliding_window=4096 query_pre_attn_scalar=256 rope_theta=1000000.0 "
                  "rope_local_base_freq=10000.0"},
    ClassDefaults{"qwen3_5",
                  "vocab_size=248320 hidden_size=4096 num_hidden_layers=32 num_attention_heads=16 "
                  "num_key_value_heads=4 head_dim=256 intermediate_size=12288 "
                  "max_position_embeddings=32768 rms_norm_eps=1e-06 hidden_act=silu "
                  "tie_word_embeddings=false linear_conv_kernel_dim=4 linear_num_key_heads=16 "
                  "linear_num_value_heads=32 linear_key_head_dim=128 linear_value_head_dim=128 "
                  "partial_rotary_factor=0.25"},
    ClassDefaults{"qwen3_5_moe",
                  "vocab_size=248320 hidden_size=2048 num_hidden_layers=40 num_attention_heads=16 "
                  "num_key_value_heads=2 head_dim=256 max_position_embeddings=32768 "
                  "rms_norm_eps=1e-06 hidden_act=silu tie_word_embeddings=false num_experts=256 "
                  "num_experts_per_tok=8 moe_intermediate_size=512 "
                  "shared_expert_intermediate_size=512 linear_conv_kernel_dim=4 "
                  "linear_num_key_heads=16 linear_num_value_heads=32 linear_key_head_dim=128 "
                  "linear_value_head_dim=128 partial_rotary_factor=0.25"},
};

}  // namespace

std::string_view classDefault(std::string_view modelType, std::string_view key) {
    const auto* found = std::ranges::find(kClasses, modelType, &ClassDefaults::modelType);
    std::string_view rest = found == kClasses.end() ? std::string_view() : found->values;
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
        if (entry.starts_with(key) && entry.substr(key.size()).starts_with('=')) {
            return entry.substr(key.size() + 1);
        }
    }
    return {};
}

}  // namespace quern::engine
