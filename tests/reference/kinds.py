"""Random configurations of each kind of model, as the reference's configuration classes take them.

`KINDS[name](r)` gives the keyword arguments of one; `r` is a Choice. Sizes are odd on purpose: head
counts that are no powers of two, heads of other sizes than hidden / heads, widths that no vector
register divides.
"""

import random


class Choice:
    """Seeded choices, with those that recur by name."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def of(self, *options):
        return self.random.choice(options)

    def maybe(self, chance=0.5):
        return self.random.random() < chance

    def uniform(self, low, high):
        return round(self.random.uniform(low, high), 4)


POSITIONS = 256


def common(r, even_heads=False, head_dims=None, heads=None):
    """Sizes of a decoder. head_dims: explicit sizes of a head, for classes that have the key."""
    kv_heads, ratio = r.of((1, 4), (2, 2), (3, 2), (1, 5), (4, 1), (2, 3), (1, 1), (5, 1), (1, 8)) if heads is None else heads
    count = kv_heads * ratio
    hidden = count * r.of(8, 12, 16, 20) * (1 if count > 2 else 4)
    sizes = dict(
        vocab_size=r.of(97, 160, 211, 320),
        hidden_size=hidden,
        intermediate_size=r.of(40, 52, 96, 100, 130),
        num_hidden_layers=r.of(2, 3, 4),
        num_attention_heads=count,
        num_key_value_heads=kv_heads,
        max_position_embeddings=POSITIONS,
        tie_word_embeddings=r.maybe(),
        pad_token_id=r.of(0, None),
        bos_token_id=1,
        eos_token_id=2,
    )
    if head_dims and r.maybe(0.6):
        sizes["head_dim"] = r.of(*head_dims)
    return sizes


def eps(r):
    return r.of(1e-6, 1e-5, 1e-3, 1e-12)


def head_dim_of(c):
    return c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]


def rope(r, dim, kinds=None, partial=None):
    """rope_parameters for heads of `dim` columns."""
    kind = r.of(*(kinds or ("default", "default", "linear", "dynamic", "yarn", "yarn", "llama3", "longrope")))
    values = dict(rope_type=kind, rope_theta=r.of(10000.0, 500000.0, 1000000.0, 100.0))
    rotary = dim
    if partial is not None:
        values["partial_rotary_factor"] = partial
        rotary = int(dim * partial)
    if kind == "linear":
        values["factor"] = r.of(2.0, 2.5, 8.0)
    elif kind == "dynamic":
        values["factor"] = r.of(2.0, 4.0)
    elif kind == "yarn":
        values["factor"] = r.of(4.0, 2.5, 16.0)
        values["original_max_position_embeddings"] = r.of(64, 32, 128)
        if r.maybe(0.4):
            values["beta_fast"], values["beta_slow"] = r.of((16.0, 2.0), (32, 1), (4.0, 0.5))
        extra = r.of("none", "factor", "mscale", "mscale_half", "truncate")
        if extra == "factor":
            values["attention_factor"] = r.of(1.0, 0.8, 1.3)
        elif extra == "mscale":
            values["mscale"], values["mscale_all_dim"] = r.of((1.0, 1.0), (0.707, 0.707), (1.0, 0.5))
        elif extra == "mscale_half":
            values[r.of("mscale", "mscale_all_dim")] = 0.8
        elif extra == "truncate":
            values["truncate"] = r.of(False, True)
    elif kind == "llama3":
        values.update(
            factor=r.of(8.0, 32.0),
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=r.of(32, 64),
        )
    elif kind == "longrope":
        values["short_factor"] = [r.uniform(1, 2) for _ in range(rotary // 2)]
        values["long_factor"] = [r.uniform(1, 8) for _ in range(rotary // 2)]
        # No text of LENGTHS crosses one of these while it grows.
        values["original_max_position_embeddings"] = r.of(POSITIONS, 128, 64)
        extra = r.of("none", "factor", "attention")
        if extra == "factor":
            values["factor"] = r.of(2.0, 4.0)
        elif extra == "attention":
            values["attention_factor"] = r.of(1.0, 1.2)
    return values


def windows(r, layers):
    return [r.of("sliding_attention", "full_attention") for _ in range(layers)]


def partial(r):
    return r.of(0.25, 0.5, 0.75, 1.0)


ACTIVATIONS = ("silu", "gelu", "gelu_pytorch_tanh", "gelu_new", "relu", "relu2", "gelu_fast")


def activation(r, usual):
    return r.of(usual, usual, *ACTIVATIONS)


def llama(r):
    c = common(r, head_dims=(8, 10, 16, 24, 32))
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        attention_bias=r.maybe(),
        mlp_bias=r.maybe(),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    return c


def mistral(r):
    c = common(r, head_dims=(8, 12, 16, 32))
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        sliding_window=r.of(None, 1, 5, 8, 33, 4096),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    return c


def mixtral(r):
    c = mistral(r)
    c.update(num_local_experts=r.of(2, 4, 5, 8), num_experts_per_tok=r.of(1, 2))
    return c


def qwen2(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        use_sliding_window=r.maybe(),
        sliding_window=r.of(5, 16),
        max_window_layers=r.of(0, 1, 2, 28),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    if r.maybe(0.3):
        c["layer_types"] = windows(r, c["num_hidden_layers"])
        c["use_sliding_window"] = True
    return c


def qwen3(r):
    c = qwen2(r)
    c["head_dim"] = r.of(8, 16, 20, 32)
    c["attention_bias"] = r.maybe()
    c["rope_parameters"] = rope(r, c["head_dim"])
    return c


def gemma(r):
    c = common(r)
    c["head_dim"] = r.of(8, 16, 20, 32)
    c.update(
        hidden_act=r.of("gelu_pytorch_tanh", "gelu", "silu", "relu"),
        rms_norm_eps=eps(r),
        attention_bias=r.maybe(),
        rope_parameters=rope(r, c["head_dim"]),
    )
    return c


def gemma2(r):
    c = gemma(r)
    c["hidden_activation"] = c.pop("hidden_act")
    c.update(
        query_pre_attn_scalar=r.of(16, 24, 144, 256),
        sliding_window=r.of(4, 8, 33),
        attn_logit_softcapping=r.of(None, 50.0, 2.5),
        final_logit_softcapping=r.of(None, 30.0, 3.0),
    )
    if r.maybe():
        c["layer_types"] = windows(r, c["num_hidden_layers"])
    return c


def gemma3_text(r):
    c = gemma2(r)
    c["attn_logit_softcapping"] = None
    c["final_logit_softcapping"] = r.of(None, 30.0)
    c["num_hidden_layers"] = r.of(3, 6, 7)
    c.pop("layer_types", None)
    if r.maybe():
        c["layer_types"] = windows(r, c["num_hidden_layers"])
    c["rope_parameters"] = dict(
        full_attention=rope(r, c["head_dim"], ("default", "linear", "linear", "yarn", "llama3")),
        sliding_attention=rope(r, c["head_dim"], ("default",)),
    )
    return c


def phi3(r):
    c = common(r)
    part = r.of(1.0, 1.0, 0.5, 0.75)
    if int(head_dim_of(c) * part) % 2:
        part = 1.0
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        sliding_window=r.of(None, 8, 40),
        rope_parameters=rope(r, head_dim_of(c), ("default", "longrope", "longrope"), part),
    )
    if "original_max_position_embeddings" in c["rope_parameters"]:
        c["original_max_position_embeddings"] = c["rope_parameters"]["original_max_position_embeddings"]
    return c


def partly_turned(r, c, kinds=None):
    part = partial(r)
    if int(head_dim_of(c) * part) % 2:
        part = 0.5 if int(head_dim_of(c) * 0.5) % 2 == 0 else 1.0
    return rope(r, head_dim_of(c), kinds, part)


def phi(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "gelu_new"),
        layer_norm_eps=eps(r),
        qk_layernorm=r.maybe(),
        rope_parameters=partly_turned(r, c),
    )
    return c


def olmo2(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        attention_bias=r.maybe(),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    return c


def smollm3(r):
    c = olmo2(r)
    c.update(
        mlp_bias=r.maybe(),
        num_hidden_layers=r.of(3, 4, 5),
        no_rope_layer_interval=r.of(2, 3, 4),
        use_sliding_window=r.maybe(0.4),
        sliding_window=r.of(None, 8),
    )
    if r.maybe(0.4):
        c["no_rope_layers"] = [r.of(0, 1) for _ in range(c["num_hidden_layers"])]
    if c["use_sliding_window"] and c["sliding_window"] and r.maybe():
        c["layer_types"] = windows(r, c["num_hidden_layers"])
    return c


def granite(r):
    c = olmo2(r)
    c.update(
        mlp_bias=r.maybe(),
        embedding_multiplier=r.of(1.0, 12.0, 0.5),
        logits_scaling=r.of(1.0, 8.0, 0.7),
        residual_multiplier=r.of(1.0, 0.22, 1.5),
        attention_multiplier=r.of(1.0, 0.1, 0.0625),
    )
    return c


def stablelm(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "silu"),
        layer_norm_eps=eps(r),
        use_qkv_bias=r.maybe(),
        qk_layernorm=r.maybe(0.4),
        use_parallel_residual=r.maybe(),
        rope_parameters=partly_turned(r, c),
    )
    return c


def starcoder2(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "gelu_pytorch_tanh"),
        norm_epsilon=eps(r),
        use_bias=r.maybe(0.7),
        sliding_window=r.of(None, 8, 40),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    return c


def cohere(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "silu"),
        layer_norm_eps=eps(r),
        logit_scale=r.of(0.0625, 1.0, 0.25, 2.0),
        attention_bias=r.maybe(),
        use_qk_norm=r.maybe(),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    return c


def cohere2(r):
    c = cohere(r)
    del c["use_qk_norm"]
    c.update(sliding_window=r.of(4, 8, 33), num_hidden_layers=r.of(3, 4, 5))
    if r.maybe():
        c["layer_types"] = windows(r, c["num_hidden_layers"])
    return c


def glm4(r):
    c = common(r)
    c["head_dim"] = r.of(8, 16, 32)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        attention_bias=r.maybe(),
        rope_parameters=partly_turned(r, c),
    )
    return c


def nemotron(r):
    c = common(r, head_dims=(8, 16, 24))
    c.update(
        hidden_act=activation(r, "relu2"),
        norm_eps=eps(r),
        attention_bias=r.maybe(),
        mlp_bias=r.maybe(),
        rope_parameters=partly_turned(r, c),
    )
    return c


def exaone4(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        num_hidden_layers=r.of(3, 4, 5),
        sliding_window=r.of(None, 8, 20),
        sliding_window_pattern=r.of(2, 4),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    layers = c["num_hidden_layers"]
    if c["sliding_window"] is None:
        c["layer_types"] = ["full_attention"] * layers
    elif r.maybe():
        c["layer_types"] = windows(r, layers)
    return c


def ernie4_5(r):
    c = common(r)
    c["head_dim"] = r.of(8, 16, 24)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        use_bias=r.maybe(),
        rope_parameters=rope(r, c["head_dim"]),
    )
    return c


def gpt2(r):
    c = common(r)
    return dict(
        vocab_size=c["vocab_size"],
        n_positions=POSITIONS,
        n_embd=c["hidden_size"],
        n_layer=c["num_hidden_layers"],
        n_head=c["num_attention_heads"],
        n_inner=r.of(None, 52, 96),
        activation_function=activation(r, "gelu_new"),
        layer_norm_epsilon=eps(r),
        scale_attn_weights=r.maybe(0.8),
        scale_attn_by_inverse_layer_idx=r.maybe(0.2),
        reorder_and_upcast_attn=r.maybe(0.2),
        tie_word_embeddings=c["tie_word_embeddings"],
        bos_token_id=1,
        eos_token_id=2,
    )


def gpt_neox(r):
    c = common(r)
    del c["num_key_value_heads"]
    c.update(
        hidden_act=activation(r, "gelu"),
        layer_norm_eps=eps(r),
        use_parallel_residual=r.maybe(),
        attention_bias=r.maybe(),
        rope_parameters=partly_turned(r, c),
    )
    return c


def falcon(r):
    c = common(r)
    kv_heads = c.pop("num_key_value_heads")
    c.pop("intermediate_size")
    c.update(
        activation=activation(r, "gelu"),
        layer_norm_epsilon=eps(r),
        ffn_hidden_size=r.of(None, 52, 96),
        bias=r.maybe(),
        alibi=r.maybe(0.15),
        new_decoder_architecture=r.maybe(),
        multi_query=r.maybe(),
        parallel_attn=r.maybe(),
        num_kv_heads=kv_heads,
        rope_parameters=rope(r, head_dim_of(c)),
    )
    if c["new_decoder_architecture"] and r.maybe(0.4):
        c["num_ln_in_parallel_attn"] = r.of(1, 2)
    return c


def some_experts(r, c):
    c.update(
        num_experts=r.of(4, 6, 8),
        num_experts_per_tok=r.of(1, 2, 3),
        moe_intermediate_size=r.of(20, 32, 36),
        norm_topk_prob=r.maybe(),
        decoder_sparse_step=r.of(1, 1, 2),
        num_hidden_layers=r.of(2, 3, 4),
    )
    if r.maybe(0.3):
        c["mlp_only_layers"] = [r.of(0, 1)]


def qwen2_moe(r):
    c = qwen2(r)
    c.pop("layer_types", None)
    some_experts(r, c)
    c.update(shared_expert_intermediate_size=r.of(24, 48), qkv_bias=r.maybe(0.8))
    return c


def qwen3_moe(r):
    c = qwen3(r)
    c.pop("layer_types", None)
    c.pop("max_window_layers", None)
    some_experts(r, c)
    return c


def gpt_oss(r):
    c = common(r)
    c["head_dim"] = r.of(8, 16, 24, 32)
    c.update(
        rms_norm_eps=eps(r),
        num_local_experts=r.of(2, 4, 6),
        num_experts_per_tok=r.of(1, 2),
        sliding_window=r.of(4, 8, 33),
        swiglu_limit=r.of(7.0, 1.5),
        swiglu_alpha=r.of(1.702, 1.0),
        attention_bias=r.maybe(0.8),
        rope_parameters=rope(r, c["head_dim"]),
    )
    if r.maybe(0.2):
        c.pop("rope_parameters")  # its class scales by itself
    if r.maybe():
        c["layer_types"] = windows(r, c["num_hidden_layers"])
    return c


def latent(r):
    c = common(r, heads=r.of((4, 1), (3, 1), (5, 1), (2, 1)))
    rope_dim = r.of(4, 8, 16)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        num_hidden_layers=r.of(2, 3, 4),
        kv_lora_rank=r.of(12, 16, 24),
        q_lora_rank=r.of(None, 20, 32),
        qk_nope_head_dim=r.of(8, 12, 16),
        qk_rope_head_dim=rope_dim,
        v_head_dim=r.of(8, 16, 20),
        attention_bias=r.maybe(0.4),
        first_k_dense_replace=r.of(0, 1, 2),
        moe_intermediate_size=r.of(20, 32),
        n_routed_experts=8,
        n_shared_experts=r.of(1, 2),
        num_experts_per_tok=r.of(1, 2, 3),
        norm_topk_prob=r.maybe(),
        routed_scaling_factor=r.of(1.0, 2.5, 16.0),
        n_group=r.of(1, 2, 4),
        rope_parameters=rope(r, rope_dim, ("default", "yarn", "yarn", "linear", "dynamic")),
    )
    c["topk_group"] = r.of(*range(1, c["n_group"] + 1))
    if c["num_experts_per_tok"] > 8 // c["n_group"] * c["topk_group"]:
        c["num_experts_per_tok"] = 2
    return c


def deepseek_v2(r):
    c = latent(r)
    c["topk_method"] = r.of("greedy", "group_limited_greedy")
    c["mlp_bias"] = r.maybe(0.3)
    return c


def deepseek_v3(r):
    c = latent(r)
    c["rope_interleave"] = r.maybe()
    return c


def lfm2(r):
    c = common(r)
    layers = c["num_hidden_layers"] = r.of(3, 4)
    c.update(
        norm_eps=eps(r),
        conv_bias=r.maybe(0.4),
        conv_L_cache=r.of(2, 3, 4),
        block_multiple_of=r.of(8, 32, 256),
        block_ffn_dim_multiplier=r.of(1.0, 1.5),
        block_auto_adjust_ff_dim=r.maybe(),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    if r.maybe():
        c["full_attn_idxs"] = [r.random.randrange(layers)]
    else:
        c["layer_types"] = [r.of("conv", "full_attention") for _ in range(layers)]
    return c


def mamba2(r):
    heads, head_dim, hidden = r.of((8, 16, 64), (6, 16, 48), (12, 8, 48), (4, 40, 80), (6, 12, 36))
    groups = r.of(1, 2) if heads % 4 else r.of(1, 2, 4)
    return dict(
        vocab_size=r.of(97, 160, 320),
        hidden_size=hidden,
        num_heads=heads,
        head_dim=head_dim,
        state_size=r.of(8, 16, 20),
        num_hidden_layers=r.of(2, 3),
        layer_norm_epsilon=eps(r),
        expand=2,
        conv_kernel=r.of(2, 3, 4),
        n_groups=groups,
        use_bias=r.maybe(0.4),
        use_conv_bias=r.maybe(0.7),
        hidden_act=r.of("silu", "silu", "silu", "gelu"),
        chunk_size=r.of(8, 16, 256),
        time_step_limit=r.of((0.0, float("inf")), (0.001, 0.1), (0.05, 0.5)),
        tie_word_embeddings=r.maybe(),
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )


def qwen3_next(r):
    c = common(r)
    c["head_dim"] = r.of(16, 24, 32)
    key_heads = r.of(1, 2, 3)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        attention_bias=r.maybe(0.4),
        linear_conv_kernel_dim=r.of(2, 3, 4),
        linear_key_head_dim=r.of(8, 12, 16),
        linear_value_head_dim=r.of(8, 16, 20),
        linear_num_key_heads=key_heads,
        linear_num_value_heads=key_heads * r.of(1, 2, 3),
        rope_parameters=partly_turned(r, c, ("default", "linear", "yarn")),
    )
    some_experts(r, c)
    c["num_hidden_layers"] = r.of(3, 4)
    c["shared_expert_intermediate_size"] = r.of(20, 32)
    if r.maybe():
        c["layer_types"] = [r.of("linear_attention", "full_attention") for _ in range(c["num_hidden_layers"])]
    return c


def granitemoe(r):
    c = granite(r)
    del c["mlp_bias"]
    c.update(num_local_experts=r.of(4, 6), num_experts_per_tok=r.of(1, 2, 3))
    return c


def granitemoeshared(r):
    c = granitemoe(r)
    c["shared_intermediate_size"] = r.of(0, 24, 40)
    return c


def ernie4_5_moe(r):
    c = common(r)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        use_bias=r.maybe(0.4),
        num_hidden_layers=r.of(2, 3, 4),
        moe_num_experts=r.of(4, 6),
        moe_k=r.of(1, 2, 3),
        moe_intermediate_size=r.of(20, 32),
        moe_num_shared_experts=r.of(0, 1, 2),
        moe_layer_start_index=r.of(0, 1),
        moe_layer_end_index=r.of(-1, -1, 2),
        moe_layer_interval=r.of(1, 1, 2),
        rope_parameters=rope(r, head_dim_of(c)),
    )
    return c


def lfm2_moe(r):
    c = lfm2(r)
    for key in ("block_multiple_of", "block_ffn_dim_multiplier", "block_auto_adjust_ff_dim", "full_attn_idxs"):
        c.pop(key, None)
    c.update(
        layer_types=[r.of("conv", "full_attention") for _ in range(c["num_hidden_layers"])],
        num_experts=r.of(4, 6),
        num_experts_per_tok=r.of(1, 2, 3),
        moe_intermediate_size=r.of(20, 32),
        num_dense_layers=r.of(0, 1, 2),
        norm_topk_prob=r.maybe(0.7),
        use_expert_bias=r.maybe(0.7),
        routed_scaling_factor=r.of(1.0, 2.5),
    )
    return c


def olmoe(r):
    c = olmo2(r)
    c.update(num_experts=r.of(4, 6), num_experts_per_tok=r.of(1, 2, 3), norm_topk_prob=r.maybe())
    return c


def glm4_moe(r):
    c = common(r)
    c["head_dim"] = r.of(8, 16, 32)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        num_hidden_layers=r.of(2, 3),
        attention_bias=r.maybe(),
        use_qk_norm=r.maybe(),
        moe_intermediate_size=r.of(20, 32),
        n_routed_experts=8,
        n_shared_experts=r.of(1, 2),
        num_experts_per_tok=r.of(1, 2),
        first_k_dense_replace=r.of(0, 1),
        norm_topk_prob=r.maybe(0.7),
        routed_scaling_factor=r.of(1.0, 2.5),
        n_group=r.of(1, 2),
        topk_group=1,
        rope_parameters=partly_turned(r, c),
    )
    return c


def arcee(r):
    c = llama(r)
    c["hidden_act"] = activation(r, "relu2")
    return c


def seed_oss(r):
    c = common(r)
    c["head_dim"] = r.of(8, 16, 32)
    c.update(
        hidden_act=activation(r, "silu"),
        rms_norm_eps=eps(r),
        attention_bias=r.maybe(),
        attention_out_bias=r.maybe(),
        mlp_bias=r.maybe(),
        rope_parameters=rope(r, c["head_dim"]),
    )
    return c


def olmo3(r):
    c = olmo2(r)
    c.update(
        num_hidden_layers=r.of(3, 4, 5),
        sliding_window=r.of(4, 8, 33),
        rope_parameters=dict(
            full_attention=rope(r, head_dim_of(c), ("default", "linear", "yarn")),
            sliding_attention=rope(r, head_dim_of(c), ("default",)),
        ),
    )
    if r.maybe():
        c["layer_types"] = windows(r, c["num_hidden_layers"])
    return c


def qwen3_5_text(r):
    c = qwen3_next(r)
    for key in ("num_experts", "num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob",
                "decoder_sparse_step", "mlp_only_layers", "shared_expert_intermediate_size"):
        c.pop(key, None)
    return c


def qwen3_5_moe_text(r):
    c = qwen3_next(r)
    for key in ("norm_topk_prob", "decoder_sparse_step", "mlp_only_layers", "intermediate_size"):
        c.pop(key, None)
    return c


def encoder(r):
    c = common(r)
    del c["num_key_value_heads"]
    c.update(
        hidden_act=activation(r, "gelu"),
        layer_norm_eps=eps(r),
        type_vocab_size=r.of(1, 2, 3),
        pad_token_id=r.of(0, 1, 3),
    )
    return c


def bert(r):
    return encoder(r)


def xlm_roberta(r):
    return encoder(r)


def modernbert(r):
    c = encoder(r)
    for key in ("layer_norm_eps", "type_vocab_size", "hidden_act"):
        c.pop(key)
    c.update(
        hidden_activation=activation(r, "gelu"),
        norm_eps=eps(r),
        norm_bias=r.maybe(0.4),
        attention_bias=r.maybe(0.4),
        mlp_bias=r.maybe(0.4),
        num_hidden_layers=r.of(3, 4, 5),
        local_attention=r.of(6, 16, 40, 128),
        cls_token_id=1,
        sep_token_id=2,
        rope_parameters=dict(
            full_attention=rope(r, head_dim_of(c), ("default", "default", "linear", "yarn")),
            sliding_attention=rope(r, head_dim_of(c), ("default",)),
        ),
    )
    if r.maybe():
        c["layer_types"] = windows(r, c["num_hidden_layers"])
    return c


KINDS = {
    "llama": llama,
    "mistral": mistral,
    "mixtral": mixtral,
    "qwen2": qwen2,
    "qwen3": qwen3,
    "gemma": gemma,
    "gemma2": gemma2,
    "gemma3_text": gemma3_text,
    "phi": phi,
    "phi3": phi3,
    "olmo2": olmo2,
    "smollm3": smollm3,
    "granite": granite,
    "stablelm": stablelm,
    "starcoder2": starcoder2,
    "cohere": cohere,
    "cohere2": cohere2,
    "glm4": glm4,
    "nemotron": nemotron,
    "exaone4": exaone4,
    "ernie4_5": ernie4_5,
    "gpt2": gpt2,
    "gpt_neox": gpt_neox,
    "falcon": falcon,
    "qwen2_moe": qwen2_moe,
    "qwen3_moe": qwen3_moe,
    "gpt_oss": gpt_oss,
    "deepseek_v2": deepseek_v2,
    "deepseek_v3": deepseek_v3,
    "lfm2": lfm2,
    "mamba2": mamba2,
    "qwen3_next": qwen3_next,
    "granitemoe": granitemoe,
    "granitemoeshared": granitemoeshared,
    "ernie4_5_moe": ernie4_5_moe,
    "lfm2_moe": lfm2_moe,
    "olmoe": olmoe,
    "glm4_moe": glm4_moe,
    "arcee": arcee,
    "seed_oss": seed_oss,
    "olmo3": olmo3,
    "qwen3_5_text": qwen3_5_text,
    "qwen3_5_moe_text": qwen3_5_moe_text,
    "bert": bert,
    "xlm-roberta": xlm_roberta,
    "modernbert": modernbert,
}
ENCODERS = ("bert", "xlm-roberta", "modernbert")
