#include "engine/formats/hf_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "engine/formats/hf_expert_names.h"

namespace quern::engine {

namespace {

// Longest first: one is the beginning of another.
constexpr std::array<std::string_view, 12> kPrefixes{"language_model.model.",
                                                     "model.language_model.",
                                                     "language_model.",
                                                     "model.",
                                                     "transformer.",
                                                     "gpt_neox.",
                                                     "bert.encoder.",
                                                     "roberta.encoder.",
                                                     "encoder.",
                                                     "bert.",
                                                     "roberta.",
                                                     "backbone."};

constexpr std::array<std::string_view, 5> kLayerWords{"layers.", "h.", "blocks.", "block.",
                                                      "layer."};

constexpr std::array kOuterNames{NameRule{"embed_tokens", "token_embd"},
                                 NameRule{"wte", "token_embd"},
                                 NameRule{"embed_in", "token_embd"},
                                 NameRule{"word_embeddings", "token_embd"},
                                 NameRule{"wpe", "position_embd"},
                                 NameRule{"embeddings", "token_embd"},
                                 NameRule{"norm", "output_norm"},
                                 NameRule{"norm_f", "output_norm"},
                                 NameRule{"embedding_norm", "output_norm"},
                                 NameRule{"ln_f", "output_norm"},
                                 NameRule{"final_layernorm", "output_norm"},
                                 NameRule{"final_layer_norm", "output_norm"},
                                 NameRule{"lm_head", "output"},
                                 NameRule{"embed_out", "output"},
                                 NameRule{"score", "cls.output"}};

constexpr std::array kLayerNames{NameRule{"input_layernorm", "attn_norm"},
                                 NameRule{"ln_1", "attn_norm"},
                                 NameRule{"ln_attn", "attn_norm"},
                                 NameRule{"post_attention_layernorm", "ffn_norm"},
                                 NameRule{"ln_2", "ffn_norm"},
                                 NameRule{"self_attn.q_proj", "attn_q"},
                                 NameRule{"self_attn.k_proj", "attn_k"},
                                 NameRule{"self_attn.v_proj", "attn_v"},
                                 NameRule{"self_attn.qkv_proj", "attn_qkv"},
                                 NameRule{"attn.c_attn", "attn_qkv"},
                                 NameRule{"attention.query_key_value", "attn_qkv"},
                                 NameRule{"self_attention.query_key_value", "attn_qkv"},
                                 NameRule{"self_attn.o_proj", "attn_output"},
                                 NameRule{"self_attn.dense", "attn_output"},
                                 NameRule{"attention.dense", "attn_output"},
                                 NameRule{"self_attention.dense", "attn_output"},
                                 NameRule{"self_attn.q_norm", "attn_q_norm"},
                                 NameRule{"self_attn.k_norm", "attn_k_norm"},
                                 NameRule{"self_attn.q_layernorm", "attn_q_norm"},
                                 NameRule{"self_attn.k_layernorm", "attn_k_norm"},
                                 NameRule{"self_attn.sinks", "attn_sinks"},
                                 NameRule{"mlp.gate_proj", "ffn_gate"},
                                 NameRule{"mlp.up_proj", "ffn_up"},
                                 NameRule{"mlp.down_proj", "ffn_down"},
                                 NameRule{"mlp.gate_up_proj", "ffn_gate_up"},
                                 NameRule{"mlp.fc1", "ffn_up"},
                                 NameRule{"mlp.fc2", "ffn_down"},
                                 NameRule{"mlp.c_fc", "ffn_up"},
                                 NameRule{"mlp.c_proj", "ffn_down"},
                                 NameRule{"mlp.dense_h_to_4h", "ffn_up"},
                                 NameRule{"mlp.dense_4h_to_h", "ffn_down"}};

// Buffers that old checkpoints carry: tables and masks the model is computed from.
constexpr std::array<std::string_view, 7> kIgnoredEnds{
    "rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached", "masked_bias",
    "attn.bias",           "attention.bias",        "position_ids"};
// Other modalities, which a text model does not need, and layers that guess tokens ahead.
constexpr std::array<std::string_view, 5> kIgnoredBegins{
    "mtp.", "vision_tower.", "multi_modal_projector.", "model.vision_tower.",
    "model.multi_modal_projector."};
// Heads that an encoder was trained with.
constexpr std::array<std::string_view, 4> kTrainingHeads{
    "cls.predictions.", "cls.seq_relationship.", "lm_head.", "decoder."};

const NameRule* findRule(std::span<const NameRule> rules, std::string_view name) {
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [&](const NameRule& rule) { return rule.from == name; });
    return found == rules.end() ? nullptr : &*found;
}

const NameRule* findOuterRule(const Architecture& architecture, std::string_view name) {
    const NameRule* own = findRule(architecture.hfOuterNames, name);
    return own != nullptr ? own : findRule(kOuterNames, name);
}

bool isTrainingHead(const Architecture& architecture, std::string_view name) {
    return architecture.isBidirectional &&
           std::any_of(kTrainingHeads.begin(), kTrainingHeads.end(),
                       [&](std::string_view begin) { return name.starts_with(begin); });
}

bool isIgnored(std::string_view name) {
    return std::any_of(kIgnoredEnds.begin(), kIgnoredEnds.end(),
                       [&](std::string_view end) { return name.ends_with(end); }) ||
           std::any_of(kIgnoredBegins.begin(), kIgnoredBegins.end(),
                       [&](std::string_view begin) { return name.starts_with(begin); });
}

std::string_view withoutPrefix(std::string_view name) {
    for (const std::string_view prefix : kPrefixes) {
        if (name.starts_with(prefix)) {
            return name.substr(prefix.size());
        }
    }
    return name;
}

// "layers.12.mlp.up_proj" → number "12", rest "mlp.up_proj".
struct LayerPart {
    std::string_view number;
    std::string_view rest;
};

LayerPart layerPart(std::string_view name) {
    for (const std::string_view word : kLayerWords) {
        if (!name.starts_with(word)) {
            continue;
        }
        const std::string_view after = name.substr(word.size());
        const std::size_t dot = after.find('.');
        // At most 6 digits, and the spelling that numbers are printed in.
        const bool isNumber = dot != std::string_view::npos && dot >= 1 && dot <= 6 &&
                              (after[0] != '0' || dot == 1) &&
                              std::all_of(after.begin(), after.begin() + static_cast<long>(dot),
                                          [](char c) { return c >= '0' && c <= '9'; });
        if (isNumber) {
            return {.number = after.substr(0, dot), .rest = after.substr(dot + 1)};
        }
    }
    return {};
}

// A norm a head (StableLM): "self_attn.q_layernorm.norms.7" → the stem before ".norms", and ".7".
struct HeadPart {
    std::string_view stem;
    std::string_view number;
};

HeadPart headPart(std::string_view rest) {
    constexpr std::string_view kNorms = ".norms";
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos || !rest.substr(0, dot).ends_with(kNorms)) {
        return {.stem = rest, .number = {}};
    }
    return {.stem = rest.substr(0, dot - kNorms.size()), .number = rest.substr(dot)};
}

}  // namespace

HfName canonicalHfName(const Architecture& architecture, std::string_view name) {
    // Norms of checkpoints that came from TensorFlow have a gamma and a beta.
    constexpr std::array kSuffixes{NameRule{".weight", ".weight"}, NameRule{".bias", ".bias"},
                                   NameRule{".gamma", ".weight"}, NameRule{".beta", ".bias"}};
    std::string_view stem = name;
    std::string_view suffix = ".weight";
    for (const NameRule& end : kSuffixes) {
        if (name.ends_with(end.from)) {
            stem = name.substr(0, name.size() - end.from.size());
            suffix = end.to;
        }
    }
    if (isTrainingHead(architecture, name)) {
        return {.kind = HfName::Kind::kIgnored, .canonical = {}};
    }
    const std::string_view inner = withoutPrefix(stem);
    if (const LayerPart part = layerPart(inner); !part.number.empty()) {
        const HeadPart head = headPart(part.rest);
        const NameRule* rule = findRule(architecture.hfNames, head.stem);
        if (rule == nullptr) {
            rule = findRule(kLayerNames, head.stem);
        }
        if (rule != nullptr) {
            return {.kind = HfName::Kind::kKnown,
                    .canonical = "blk." + std::string(part.number) + "." + std::string(rule->to) +
                                 std::string(head.number) + std::string(suffix)};
        }
        if (const auto expert = canonicalExpertName(layerPart(withoutPrefix(name)).rest)) {
            return {.kind = HfName::Kind::kKnown,
                    .canonical = "blk." + std::string(part.number) + "." + *expert};
        }
    } else if (const NameRule* rule = findOuterRule(architecture, inner); rule != nullptr) {
        return {.kind = HfName::Kind::kKnown,
                .canonical = std::string(rule->to) + std::string(suffix)};
    }
    return {.kind = isIgnored(name) ? HfName::Kind::kIgnored : HfName::Kind::kUnknown,
            .canonical = {}};
}

std::int64_t layerOfHfName(std::string_view name) {
    std::int64_t layer = -1;
    const std::string_view number = layerPart(withoutPrefix(name)).number;
    (void)std::from_chars(number.data(), number.data() + number.size(), layer);
    return layer;
}

}  // namespace quern::engine
