#!/usr/bin/env python3
"""Writes engine/formats/class_defaults.cpp: what each configuration class of transformers takes for a
key that a config.json leaves out.

    class_defaults.py > engine/formats/class_defaults.cpp; clang-format -i engine/formats/class_defaults.cpp
"""

import dataclasses
import json

import transformers

KINDS = """llama mistral mixtral qwen2 qwen3 gemma gemma2 gemma3_text phi phi3 olmo2 smollm3 granite stablelm
starcoder2 cohere cohere2 glm4 nemotron exaone4 ernie4_5 gpt2 gpt_neox falcon qwen2_moe qwen3_moe gpt_oss
deepseek_v2 deepseek_v3 lfm2 mamba2 qwen3_next bert xlm-roberta roberta camembert modernbert
granitemoe granitemoeshared ernie4_5_moe lfm2_moe olmoe glm4_moe arcee seed_oss olmo3 qwen3_5_text
qwen3_5_moe_text""".split()
KEYS = """vocab_size hidden_size n_embd num_hidden_layers n_layer num_attention_heads n_head num_key_value_heads
num_kv_heads head_dim intermediate_size n_inner ffn_hidden_size max_position_embeddings n_positions
original_max_position_embeddings pad_token_id rms_norm_eps layer_norm_eps layer_norm_epsilon norm_epsilon norm_eps
hidden_act hidden_activation activation_function activation tie_word_embeddings
sliding_window local_attention sliding_window_pattern use_sliding_window max_window_layers no_rope_layer_interval
query_pre_attn_scalar attention_multiplier scale_attn_weights attn_logit_softcapping final_logit_softcapping
embedding_multiplier residual_multiplier logit_scale logits_scaling
use_parallel_residual new_decoder_architecture multi_query parallel_attn alibi
num_local_experts num_experts n_routed_experts moe_num_experts num_experts_per_tok moe_k moe_intermediate_size
norm_topk_prob routed_scaling_factor topk_method n_group topk_group swiglu_limit swiglu_alpha
shared_expert_intermediate_size shared_intermediate_size n_shared_experts moe_num_shared_experts
first_k_dense_replace num_dense_layers decoder_sparse_step moe_layer_start_index moe_layer_end_index
moe_layer_interval kv_lora_rank q_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim rope_interleave
conv_L_cache block_multiple_of block_ffn_dim_multiplier block_auto_adjust_ff_dim
conv_kernel num_heads state_size n_groups linear_conv_kernel_dim linear_num_key_heads linear_num_value_heads
linear_key_head_dim linear_value_head_dim""".split()
# Sizes that a tiny or broken config must say itself, but those of text models within models for several
# modalities are left out where they are the default.
SIZES = """vocab_size hidden_size n_embd num_hidden_layers n_layer num_attention_heads n_head intermediate_size
max_position_embeddings n_positions""".split()
ALSO = {"lfm2": "max_position_embeddings", "lfm2_moe": "max_position_embeddings"}  # as their first configs do
NESTED = ("gemma3_text", "qwen3_5_text", "qwen3_5_moe_text")
# Names that one folder goes by, and another's class reads.
ALIASES = {"gemma3": "gemma3_text", "qwen3_5": "qwen3_5_text", "qwen3_5_moe": "qwen3_5_moe_text"}
# Set where a class reads its arguments, and so no field's default.
PARTIAL = dict(phi=0.5, stablelm=0.25, glm4=0.5, glm4_moe=0.5, nemotron=0.5, gpt_neox=0.25, qwen3_next=0.25,
               qwen3_5_text=0.25, qwen3_5_moe_text=0.25)


def text(value):
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def entries(kind):
    config_class = transformers.CONFIG_MAPPING[kind]
    fields = {f.name: f.default for f in dataclasses.fields(config_class)}
    for key in KEYS:
        value = fields.get(key)
        if value is not None and (key not in SIZES or kind in NESTED or ALSO.get(kind) == key):
            yield f"{key}={text(value)}"
    theta = getattr(config_class, "default_theta", None)
    if isinstance(theta, dict):
        local = "local_rope_theta" if kind == "modernbert" else "rope_local_base_freq"
        yield f"{'global_rope_theta' if kind == 'modernbert' else 'rope_theta'}={theta['global']}"
        yield f"{local}={theta['local']}"
    elif theta not in (None, 10000.0):
        yield f"rope_theta={theta}"
    if kind in PARTIAL:
        yield f"partial_rotary_factor={PARTIAL[kind]}"
    rope = getattr(config_class(), "rope_parameters", None) or {}
    if rope.get("rope_type", "default") != "default":
        scaling = {key: value for key, value in rope.items() if key != "rope_theta"}
        yield "rope_parameters=" + json.dumps(scaling, separators=(",", ":")).replace('"', '\\"')


def lines(words):
    line = ""
    for word in words:
        if len(line) + len(word) > 78:
            yield line
            line = ""
        line += word + " "
    yield line.rstrip()


print(f"""// Written by tests/reference/class_defaults.py from transformers {transformers.__version__}.
#include "engine/formats/class_defaults.h"

#include <algorithm>
#include <array>

namespace quern::engine {{

namespace {{

struct ClassDefaults {{
    std::string_view modelType;
    std::string_view values;  // key=value, a space between each two
}};

constexpr std::array kClasses{{""")
for kind in KINDS + list(ALIASES):
    print(f'ClassDefaults{{"{kind}",')
    print("\n".join(f'"{line}"' for line in lines(entries(ALIASES.get(kind, kind)))))
    print("},")
print("""};

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

}  // namespace quern::engine""")
