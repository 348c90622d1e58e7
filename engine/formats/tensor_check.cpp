#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <vector>

#include "engine/formats/gguf_metadata.h"
#include "engine/formats/hyperparameters.h"

namespace quern::engine {

namespace {

// What every architecture may have, and tables that readers use themselves.
constexpr std::array<std::string_view, 6> kOuter{
    "token_embd", "output_norm", "output", "rope_freqs", "rope_factors_short", "rope_factors_long"};
constexpr std::array<std::string_view, 8> kInLayers{
    "attn_q", "attn_k", "attn_v", "attn_qkv", "attn_output", "ffn_up", "ffn_gate_up", "ffn_down"};
constexpr std::array<std::string_view, 10> kOfExperts{
    "ffn_gate_inp",     "exp_probs_b",    "ffn_gate_exps", "ffn_up_exps",    "ffn_down_exps",
    "ffn_gate_up_exps", "ffn_gate_shexp", "ffn_up_shexp",  "ffn_down_shexp", "ffn_gate_inp_shexp"};
constexpr std::array<std::string_view, 8> kOfLatent{"attn_q_a",      "attn_q_a_norm",  "attn_q_b",
                                                    "attn_kv_a_mqa", "attn_kv_a_norm", "attn_kv_b",
                                                    "attn_k_b",      "attn_v_b"};
constexpr std::array<std::string_view, 3> kScores{"cls", "cls.norm", "cls.output"};
// Tables of frequencies that old converters wrote into each layer.
constexpr std::array<std::string_view, 2> kIgnoredInLayers{"attn_rot_embd", "rope_freqs"};

// Of layers that keep a state, as readers name them: fused still.
constexpr std::array<std::string_view, 3> kShortConvTensors{"shortconv_in", "shortconv_conv",
                                                            "shortconv_out"};
constexpr std::array<std::string_view, 8> kMamba2Tensors{
    "ssm_in", "ssm_conv1d", "ssm_a", "ssm_a_log", "ssm_d", "ssm_dt_bias", "ssm_norm", "ssm_out"};
constexpr std::array<std::string_view, 12> kDeltaNetTensors{
    "ssm_in",     "ssm_qkv", "ssm_z",     "ssm_ba",      "ssm_alpha", "ssm_beta",
    "ssm_conv1d", "ssm_a",   "ssm_a_log", "ssm_dt_bias", "ssm_norm",  "ssm_out"};

std::span<const std::string_view> stateTensors(StateKind kind) {
    switch (kind) {
        case StateKind::kShortConv:
            return kShortConvTensors;
        case StateKind::kMamba2:
            return kMamba2Tensors;
        case StateKind::kDeltaNet:
            return kDeltaNetTensors;
        case StateKind::kNone:
            break;
    }
    return {};
}

template <class List>
bool contains(const List& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<std::string_view> layerTensors(const Architecture& architecture) {
    std::vector<std::string_view> names(kInLayers.begin(), kInLayers.end());
    const auto addIf = [&](bool condition, std::string_view name) {
        if (condition) {
            names.push_back(name);
        }
    };
    addIf(architecture.attentionNorms.hasPre, "attn_norm");
    addIf(architecture.attentionNorms.hasPost, "post_attention_norm");
    addIf(architecture.mlpNorms.hasPre, "ffn_norm");
    addIf(architecture.mlpNorms.hasPost, "post_ffw_norm");
    addIf(architecture.isGated, "ffn_gate");
    addIf(architecture.qkNorm != QkNorm::kNone, "attn_q_norm");
    addIf(architecture.qkNorm != QkNorm::kNone, "attn_k_norm");
    for (const std::string_view name : stateTensors(architecture.state)) {
        names.push_back(name);
    }
    addIf(architecture.hasSinks, "attn_sinks");
    if (architecture.isLatent) {
        names.insert(names.end(), kOfLatent.begin(), kOfLatent.end());
    }
    if (architecture.experts.isAllowed) {
        names.insert(names.end(), kOfExperts.begin(), kOfExperts.end());
    }
    names.insert(names.end(), kIgnoredInLayers.begin(), kIgnoredInLayers.end());
    return names;
}

// "ffn_up_exps.7" → "ffn_up_exps"
std::string_view withoutExpert(std::string_view stem) {
    const std::size_t dot = stem.find("_exps.");
    return dot == std::string_view::npos ? stem : stem.substr(0, dot + 5);
}

bool isKnownOutside(const Architecture& architecture, std::string_view stem) {
    if (stem == "position_embd") {
        return architecture.hasPositionEmbedding;
    }
    if (stem == "token_types") {
        return architecture.hasTokenTypes;
    }
    if (stem == "token_embd_norm") {
        return architecture.hasEmbeddingNorm;
    }
    return contains(kOuter, stem) || contains(kScores, stem);
}

// "blk.12.attn_q" → 12 and "attn_q"; −1 outside of layers.
struct Place {
    std::int64_t layer = -1;
    std::string_view stem;
};

Place placeOf(std::string_view name) {
    for (const std::string_view suffix : {".weight", ".bias", ".blocks", ".scales"}) {
        if (name.ends_with(suffix)) {
            name.remove_suffix(suffix.size());
        }
    }
    constexpr std::string_view kLayer = "blk.";
    if (!name.starts_with(kLayer)) {
        return {.layer = -1, .stem = name};
    }
    const std::string_view rest = name.substr(kLayer.size());
    std::int64_t layer = -1;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc() || layer < 0 || digits >= rest.size() || rest[digits] != '.') {
        return {.layer = -1, .stem = name};
    }
    return {.layer = layer, .stem = withoutExpert(rest.substr(digits + 1))};
}

}  // namespace

Status checkTensors(const Architecture& architecture, const Hyperparameters& parameters,
                    const TensorTable& table) {
    const std::vector<std::string_view> inLayers = layerTensors(architecture);
    for (const std::string& name : table.names()) {
        const Place place = placeOf(name);
        if (place.layer >= parameters.layers()) {
            return fail(ErrorCode::kCorrupt, "tensor " + quotedName(name) + " is of layer " +
                                                 std::to_string(place.layer) +
                                                 "; the model's header says " +
                                                 std::to_string(parameters.layers()) + " layers");
        }
        const bool isKnown = place.layer < 0 ? isKnownOutside(architecture, place.stem)
                                             : contains(inLayers, place.stem);
        if (!isKnown) {
            return fail(ErrorCode::kUnsupported,
                        "tensor " + quotedName(name) + " is none that architecture '" +
                            std::string(architecture.gguf) +
                            "' is known to have; leaving it out would change the model");
        }
    }
    return {};
}

}  // namespace quern::engine
