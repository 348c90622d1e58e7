#!/usr/bin/env python3
"""Writes tests/data/reference: one small model for each thing that random_models.py found wrong, or
that no golden model has. The test beside the golden models reads them.

    kept_models.py [NAME …]
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers

from random_models import class_of, expected_of, fill

TARGET = Path(__file__).resolve().parent.parent / "data" / "reference"
SIZES = dict(
    vocab_size=72,
    hidden_size=24,
    intermediate_size=20,
    num_hidden_layers=2,
    num_attention_heads=3,
    num_key_value_heads=1,
    max_position_embeddings=64,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)
LINEAR = dict(
    linear_conv_kernel_dim=3,
    linear_key_head_dim=6,
    linear_value_head_dim=4,
    linear_num_key_heads=2,
    linear_num_value_heads=4,
    head_dim=8,
)
LONG_ROPE = dict(
    rope_type="longrope",
    rope_theta=10000.0,
    factor=4.0,
    original_max_position_embeddings=20,
    short_factor=[1.0, 1.5, 1.25, 1.75],
    long_factor=[2.0, 5.0, 3.0, 7.0],
)
FOUR_EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12)

# name: model type, arguments, keys left out of config.json
KEPT = {
    "stablelm-head-norms": ("stablelm", dict(qk_layernorm=True, use_parallel_residual=True), ()),
    "modernbert-biases": (
        "modernbert",
        dict(mlp_bias=True, attention_bias=True, norm_bias=True, local_attention=6, cls_token_id=1, sep_token_id=2),
        (),
    ),
    "mamba2-gelu": (
        "mamba2",
        dict(hidden_act="gelu", num_heads=6, head_dim=8, state_size=8, n_groups=2, conv_kernel=3, chunk_size=16),
        (),
    ),
    "qwen3-next-gelu": (
        "qwen3_next",
        dict(hidden_act="gelu", shared_expert_intermediate_size=12, **LINEAR, **FOUR_EXPERTS,
             layer_types=["linear_attention", "full_attention"]),
        (),
    ),
    "deepseek-v3-eps": (
        "deepseek_v3",
        dict(rms_norm_eps=1e-3, kv_lora_rank=8, q_lora_rank=12, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=6,
             n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=12, n_group=2, topk_group=1,
             first_k_dense_replace=1, num_key_value_heads=3),
        (),
    ),
    "deepseek-v2-shares": (
        "deepseek_v2",
        dict(norm_topk_prob=True, routed_scaling_factor=2.5, kv_lora_rank=8, q_lora_rank=None, qk_nope_head_dim=8,
             qk_rope_head_dim=4, v_head_dim=6, n_routed_experts=4, n_shared_experts=1, num_experts_per_tok=2,
             moe_intermediate_size=12, first_k_dense_replace=1, num_key_value_heads=3),
        (),
    ),
    "phi3-longrope": (
        "phi3",
        dict(rope_parameters=LONG_ROPE, original_max_position_embeddings=20, sliding_window=8, pad_token_id=0),
        ("rms_norm_eps",),
    ),
    "llama-dynamic": (
        "llama",
        dict(max_position_embeddings=20, rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, factor=4.0)),
        ("rms_norm_eps",),
    ),
    "gpt2-scaled-by-layer": ("gpt2", dict(scale_attn_by_inverse_layer_idx=True), ()),
    "qwen3-moe-windows": (
        "qwen3_moe", dict(use_sliding_window=True, sliding_window=5, head_dim=8, **FOUR_EXPERTS), ()),
    "qwen2-moe-windows": (
        "qwen2_moe",
        dict(use_sliding_window=True, sliding_window=5, max_window_layers=2, num_hidden_layers=3,
             shared_expert_intermediate_size=12, **FOUR_EXPERTS),
        ("layer_types",),
    ),
    "smollm3-windows": (
        "smollm3",
        dict(use_sliding_window=True, sliding_window=5, no_rope_layer_interval=2, num_hidden_layers=3),
        ("layer_types", "no_rope_layers"),
    ),
    "gemma2-exact-gelu": (
        "gemma2", dict(hidden_activation="gelu", head_dim=8, query_pre_attn_scalar=8, sliding_window=5), ()),
    "gpt-oss-yarn": (
        "gpt_oss",
        dict(head_dim=8, sliding_window=5, num_local_experts=3, num_experts_per_tok=2,
             rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0,
                                  original_max_position_embeddings=16)),
        (),
    ),
    "cohere-defaults": ("cohere", dict(use_qk_norm=True), ("rope_parameters", "logit_scale", "layer_norm_eps")),
    "granitemoe-shared": (
        "granitemoeshared",
        dict(num_local_experts=4, num_experts_per_tok=2, shared_intermediate_size=12, attention_multiplier=0.3,
             residual_multiplier=0.5, embedding_multiplier=3.0, logits_scaling=2.0),
        (),
    ),
    "ernie4_5-moe": (
        "ernie4_5_moe",
        dict(moe_num_experts=4, moe_k=2, moe_intermediate_size=12, moe_num_shared_experts=1, use_bias=True),
        (),
    ),
    "lfm2-moe": (
        "lfm2_moe",
        dict(num_dense_layers=1, layer_types=["conv", "full_attention"], routed_scaling_factor=1.5, **FOUR_EXPERTS),
        (),
    ),
    "olmoe": ("olmoe", dict(num_experts=4, num_experts_per_tok=2), ()),
    "olmo3": (
        "olmo3",
        dict(sliding_window=5, num_hidden_layers=4,
             rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1000.0, factor=4.0),
                                  sliding_attention=dict(rope_type="default", rope_theta=1000.0))),
        (),
    ),
    "glm4-moe": (
        "glm4_moe",
        dict(head_dim=8, use_qk_norm=True, attention_bias=True, n_routed_experts=4, num_experts_per_tok=2,
             moe_intermediate_size=12, first_k_dense_replace=1, routed_scaling_factor=1.5),
        (),
    ),
    "arcee": ("arcee", {}, ()),
    "seed-oss": ("seed_oss", dict(head_dim=8), ()),
    "qwen3_5": (
        "qwen3_5_text", dict(**LINEAR, layer_types=["linear_attention", "full_attention"]), ()),
    "qwen3_5-moe": (
        "qwen3_5_moe_text",
        dict(shared_expert_intermediate_size=12, **LINEAR, **FOUR_EXPERTS,
             layer_types=["linear_attention", "full_attention"]),
        (),
    ),
}


def keep(name, kind, arguments, left_out):
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config_class = transformers.CONFIG_MAPPING[kind]
    known = set(config_class.__dataclass_fields__) | set(getattr(config_class, "attribute_map", {}))
    sizes = {key: value for key, value in SIZES.items() if key in known}
    config = config_class(**{**sizes, **arguments})
    model = class_of(kind).from_config(config, attn_implementation="eager").eval()
    fill(model, torch.Generator().manual_seed(len(name)))
    model.to(torch.float16)
    model.config.dtype = "float16"
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    path = folder / "config.json"
    written = json.loads(path.read_text())
    for key in left_out:
        written.pop(key, None)
    path.write_text(json.dumps(written, indent=1))
    (folder / "expected.json").write_text(json.dumps(expected_of(kind, folder, (1, 7, 40))))
    print(name, sum(file.stat().st_size for file in folder.iterdir()))


if __name__ == "__main__":
    for name in sys.argv[1:] or KEPT:
        keep(name, *KEPT[name])
