#include "engine/formats/hf_expert_names.h"

#include <algorithm>
#include <array>
#include <span>

#include "engine/formats/architecture.h"

namespace quern::engine {

namespace {

constexpr std::array<std::string_view, 3> kBlocks{"mlp.", "block_sparse_moe.", "feed_forward."};

constexpr std::array kNames{NameRule{"gate.weight", "ffn_gate_inp.weight"},
                            NameRule{"router.weight", "ffn_gate_inp.weight"},
                            NameRule{"router.bias", "ffn_gate_inp.bias"},
                            NameRule{"router.layer.weight", "ffn_gate_inp.weight"},
                            NameRule{"gate.e_score_correction_bias", "exp_probs_b.bias"},
                            NameRule{"moe_statics.e_score_correction_bias", "exp_probs_b.bias"},
                            NameRule{"expert_bias", "exp_probs_b.bias"},
                            NameRule{"input_linear.weight", "ffn_gate_up_exps.weight"},
                            NameRule{"output_linear.weight", "ffn_down_exps.weight"},
                            NameRule{"shared_expert.gate_proj.weight", "ffn_gate_shexp.weight"},
                            NameRule{"shared_expert.up_proj.weight", "ffn_up_shexp.weight"},
                            NameRule{"shared_expert.down_proj.weight", "ffn_down_shexp.weight"},
                            NameRule{"shared_experts.gate_proj.weight", "ffn_gate_shexp.weight"},
                            NameRule{"shared_experts.up_proj.weight", "ffn_up_shexp.weight"},
                            NameRule{"shared_experts.down_proj.weight", "ffn_down_shexp.weight"},
                            NameRule{"shared_experts.gate_proj.bias", "ffn_gate_shexp.bias"},
                            NameRule{"shared_experts.up_proj.bias", "ffn_up_shexp.bias"},
                            NameRule{"shared_experts.down_proj.bias", "ffn_down_shexp.bias"},
                            NameRule{"shared_expert_gate.weight", "ffn_gate_inp_shexp.weight"},
                            NameRule{"experts.gate_up_proj", "ffn_gate_up_exps.weight"},
                            NameRule{"experts.gate_up_proj_bias", "ffn_gate_up_exps.bias"},
                            NameRule{"experts.gate_up_proj_blocks", "ffn_gate_up_exps.blocks"},
                            NameRule{"experts.gate_up_proj_scales", "ffn_gate_up_exps.scales"},
                            NameRule{"experts.down_proj", "ffn_down_exps.weight"},
                            NameRule{"experts.down_proj_bias", "ffn_down_exps.bias"},
                            NameRule{"experts.down_proj_blocks", "ffn_down_exps.blocks"},
                            NameRule{"experts.down_proj_scales", "ffn_down_exps.scales"}};

// After "experts.7."
constexpr std::array kNamesOfOne{
    NameRule{"gate_proj.weight", "ffn_gate_exps"}, NameRule{"up_proj.weight", "ffn_up_exps"},
    NameRule{"down_proj.weight", "ffn_down_exps"}, NameRule{"w1.weight", "ffn_gate_exps"},
    NameRule{"w3.weight", "ffn_up_exps"},          NameRule{"w2.weight", "ffn_down_exps"}};

const NameRule* findRule(std::span<const NameRule> rules, std::string_view name) {
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [&](const NameRule& rule) { return rule.from == name; });
    return found == rules.end() ? nullptr : &*found;
}

std::optional<std::string> nameOfOne(std::string_view name) {
    constexpr std::string_view kExperts = "experts.";
    if (!name.starts_with(kExperts)) {
        return std::nullopt;
    }
    name.remove_prefix(kExperts.size());
    const std::size_t dot = name.find('.');
    // At most 6 digits, and the spelling that numbers are printed in.
    const bool isNumber = dot != std::string_view::npos && dot >= 1 && dot <= 6 &&
                          (name[0] != '0' || dot == 1) &&
                          std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(dot),
                                      [](char c) { return c >= '0' && c <= '9'; });
    const NameRule* rule = isNumber ? findRule(kNamesOfOne, name.substr(dot + 1)) : nullptr;
    if (rule == nullptr) {
        return std::nullopt;
    }
    return std::string(rule->to) + "." + std::string(name.substr(0, dot)) + ".weight";
}

}  // namespace

std::optional<std::string> canonicalExpertName(std::string_view name) {
    for (const std::string_view block : kBlocks) {
        if (!name.starts_with(block)) {
            continue;
        }
        const std::string_view inner = name.substr(block.size());
        if (const NameRule* rule = findRule(kNames, inner); rule != nullptr) {
            return std::string(rule->to);
        }
        return nameOfOne(inner);
    }
    return std::nullopt;
}

}  // namespace quern::engine
